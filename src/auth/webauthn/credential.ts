/** Credentials in their states: named to a browser, stored, newly made, and proved. */

/** A credential as the browser's options name it. */
export interface NamedCredential {
  credential_id: string
  transports: string[]
}

/** A credential that an assertion is checked against. */
export interface Credential {
  id: string
  user_id: string
  public_key: string
  is_backup_eligible: boolean
}

interface Flags {
  /** The authenticator has checked the user, by a PIN or a biometric. Without it, possession of the device is all that is proved. */
  isUserVerified: boolean
  /** The passkey may be copied to other devices. It is then no hardware-bound key. */
  isBackupEligible: boolean
  isBackedUp: boolean
}

/** A new credential. */
export interface Registration extends Flags {
  credentialId: string
  publicKey: string
  signCount: number
  rpId: string
  transports: string[]
  aaguid: string
}

/** An assertion whose signature is right. Its counter has not been compared yet. */
export interface Verified extends Flags {
  factorId: string
  userId: string
  signCount: number
}
