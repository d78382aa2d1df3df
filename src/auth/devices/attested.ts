import type { Bytes } from '../../wire/der.ts'
import type { DeviceEnvironment, DeviceFacts, KeyStorage } from '../../wire/devices.ts'

/** A key whose attestation has held. */
export interface Attested {
  /** The uncompressed point of the P-256 key. */
  point: Bytes
  /** SHA-256 of the point. */
  keyId: Bytes
  environment: DeviceEnvironment
  keyStorage: KeyStorage
  facts: DeviceFacts
  /** SHA-256 of the app id: Apple's assertions carry it. `null` for a key that signs requests itself. */
  rpIdHash: Bytes | null
  /** Apple's receipt. Nothing signs it here: only Apple can tell whether it is genuine. */
  receipt: Bytes | null
  /** Serial numbers of the chain's certificates without the leaf's, as Google's list of revoked certificates spells them. */
  chainSerials: string[]
}
