/** The options that a browser takes, as JSON (WebAuthn section 5.1: `parseCreationOptionsFromJSON`, `parseRequestOptionsFromJSON`). */
import type { NamedCredential } from './credential.ts'
import type { RelyingParty } from './relying-party.ts'

/** Milliseconds that the browser waits for the person: as long as the challenge is good. */
const timeout = 300_000

/** Signature algorithms by their COSE numbers, the preferred first: Ed25519, ES256, and RS256, which is the only one of some TPMs. */
export const algorithms = [-8, -7, -257]

interface CredentialDescriptor {
  type: 'public-key'
  id: string
  transports: string[]
}

export interface CreationOptions {
  rp: { id: string; name: string }
  user: { id: string; name: string; displayName: string }
  challenge: string
  pubKeyCredParams: { type: 'public-key'; alg: number }[]
  timeout: number
  excludeCredentials: CredentialDescriptor[]
  authenticatorSelection: { residentKey: 'required'; requireResidentKey: true; userVerification: 'preferred' }
  attestation: 'none'
  extensions: { credProps: true }
}

export interface RequestOptions {
  challenge: string
  rpId: string
  timeout: number
  userVerification: 'preferred' | 'required'
  allowCredentials: CredentialDescriptor[]
}

/** Every passkey is discoverable (`residentKey`), so that each one can sign in without a user name. */
export function creationOptions(
  { id, name }: RelyingParty,
  user: { handle: string; name: string },
  challenge: string,
  known: NamedCredential[],
): CreationOptions {
  return {
    rp: { id, name },
    user: { id: user.handle, name: user.name, displayName: user.name },
    challenge,
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout,
    excludeCredentials: known.map(descriptor),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
    attestation: 'none',
    extensions: { credProps: true },
  }
}

/** @param allowed none stands for a passkey that the authenticator finds by itself. */
export function requestOptions(
  { id }: RelyingParty,
  challenge: string,
  allowed: NamedCredential[],
  userVerification: RequestOptions['userVerification'],
): RequestOptions {
  return { challenge, rpId: id, timeout, userVerification, allowCredentials: allowed.map(descriptor) }
}

function descriptor({ credential_id, transports }: NamedCredential): CredentialDescriptor {
  return { type: 'public-key', id: credential_id, transports }
}
