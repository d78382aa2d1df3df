/** Attested devices: the facts that every room knows them by. */
import type { Bytes } from './der.ts'

/** Where a device was attested: in the App Store's world, in that of Xcode, or by a debug key. */
export type DeviceEnvironment = 'production' | 'development' | 'debug'

export type DevicePlatform = 'ios' | 'android'

/** Where the private key lies. */
export type KeyStorage = 'secure_enclave' | 'strongbox' | 'tee' | 'software'

/** Facts about the device on the day of its attestation. */
export interface DeviceFacts {
  /** Android: `verified` is the manufacturer's system, `self_signed` one whose key the settings list. */
  verified_boot?: 'verified' | 'self_signed'
  /** Android: like `14.0.0`. */
  os_version?: string
  /** Android: the month of the last security patch, like `2025-09`. */
  os_patch_level?: string
  /** iOS 27 and later: how the app came to the device. 2 is TestFlight, 3 Xcode and 4 the App Store. */
  category?: number
  /** iOS 27 and later: the CFBundleVersion. */
  bundle_version?: string
}

/** Bytes of an uncompressed point of P-256: `04`, x and y. */
export const pointBytes = 65

/** The name of a key: the SHA-256 of its point, as App Attest computes it too. */
export async function keyIdOf(point: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', point))
}
