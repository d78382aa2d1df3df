/**
 * The authenticated caller. `@User()` and `@OptionalUser()` inject it (contract, "Authenticated user object").
 *
 * @example
 * ```ts
 * function isStaff({ roles }: UserT) {
 *   return roles.includes('staff')
 * }
 * ```
 */
export interface UserT {
  /** The claim `sub`. Policies compare it with `(select auth.uid())`. */
  id: string
  /** The claim `email`. Absent where the token has none. */
  email?: string
  /** `authenticated`, or `anon` for an anonymous session. It is never an application role. */
  role: string
  /** True exactly when the claim `email_verified` was true as the token was minted. */
  emailVerified: boolean
  /** Always empty: access tokens have no such claim. */
  metadata: Record<string, unknown>
  /** The application roles, which are read from the database in this request. */
  roles: string[]
  /** The attested device that has signed this request. `null` where none has, or where the signature does not hold. */
  device: AttestedDevice | null
}

/**
 * A device whose key was attested, and which has signed the request with its header `Device-Assertion`.
 *
 * @example
 * ```ts
 * function isTrusted({ device }: UserT) {
 *   return device !== null && device.environment === 'production'
 * }
 * ```
 */
export interface AttestedDevice {
  /** `dev_…`. */
  id: string
  /** The system that has attested the key. */
  platform: 'ios' | 'android'
  /** The application that the device was attested for, as the setting `device_apps` names it. */
  applicationKey: string
  /** `debug` is a key without hardware. A stack that is not marked for it has none. */
  environment: 'production' | 'development' | 'debug'
  /** Where the private key lies. */
  keyStorage: 'secure_enclave' | 'strongbox' | 'tee' | 'software'
  /** ISO 8601, in UTC. */
  attestedAt: string
  /** The device's time of this request: ISO 8601, in UTC. */
  assertedAt: string
  /** What the platform said on the day of the attestation. iOS 27 repeats `category` and `bundleVersion` with each request. */
  facts: {
    /** Android: the manufacturer's system, or one whose key the settings list. */
    verifiedBoot?: 'verified' | 'self_signed'
    /** Android: like `16.0.0`. */
    osVersion?: string
    /** Android: the month of the security patch, like `2026-02`. */
    osPatchLevel?: string
    /** iOS: how the app came to the device. 2 is TestFlight, 3 Xcode, 4 the App Store. */
    category?: number
    /** iOS: the CFBundleVersion. */
    bundleVersion?: string
  }
}
