/** The question for a request's device, which travels with the read of the grants, and its answer. */
import type { DeviceEnvironment, DeviceFacts, DevicePlatform, KeyStorage } from '../../src/wire/devices.ts'

/** An assertion whose signature has held. Whose key it is, the database says. */
export interface DeviceProof {
  /** SHA-256 of the key's point, in base64url. */
  keyId: string
  nonce: string
  /** Unix time in seconds. */
  time: number
  /** SHA-256 of the app id, which Apple's assertions carry. `null` for a plain signature. */
  rpIdHash: string | null
  /** Facts that the assertion repeats, as of now. */
  facts: DeviceFacts
}

/** The row of a device, as `auth.request_context` gives it. */
export interface DeviceRow {
  id: string
  platform: DevicePlatform
  application_key: string
  environment: DeviceEnvironment
  key_storage: KeyStorage
  attested_at: string
  facts: DeviceFacts
  rp_id_hash: string | null
  is_revoked: boolean
  /** The row says that the device was last seen more than a day ago. */
  is_unseen: boolean
}

/** The assertion of a request, whose device is read together with the grants. */
export interface AskedDevice {
  proof: DeviceProof
  /** The nonce is used up in this transaction. */
  isOnce: boolean
}

export interface FoundDevice {
  /** The caller's own device whose key has signed the request. Absent where no device is asked about. */
  device?: DeviceRow | null
  /** Whether the nonce of the device's assertion was unused. Absent where the route does not ask. */
  isClaimed?: boolean
}
