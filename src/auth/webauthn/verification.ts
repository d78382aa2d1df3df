/**
 * Verifies the proofs of authenticators with @simplewebauthn/server. The library brings 300 KB of parsers, so import this file on demand: the
 * bundler makes a chunk of it.
 */
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import {
  cose,
  decodeAttestationObject,
  decodeClientDataJSON,
  decodeCredentialPublicKey,
  isoBase64URL,
} from '@simplewebauthn/server/helpers'
import type { Credential, Registration, Verified } from './credential.ts'
import type { RelyingParty } from './relying-party.ts'
import type { Assertion, RegistrationBody } from './schemas.ts'

/** Bytes of an RSA modulus: 2,048 bits are the least that is safe, and 4,096 the most that authenticators make. */
const modulusBytes = { least: 256, most: 512 }

/** @param algorithms those that the options offered. @throws Error for everything that is no new credential for this challenge. */
export async function verifyRegistration(
  { response: { type, id, rawId, response } }: RegistrationBody,
  challenge: string,
  { id: rpId, origins }: RelyingParty,
  algorithms: number[],
): Promise<Registration> {
  const { clientDataJSON, attestationObject } = response
  requireSameOrigin(clientDataJSON)
  requireNoCertificate(attestationObject)
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { type, id, rawId, response: { clientDataJSON, attestationObject }, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID: rpId,
    requireUserVerification: false,
    supportedAlgorithmIDs: algorithms,
  })
  if (!verified) throw new Error('the attestation is wrong')
  const { credential, aaguid, userVerified, credentialDeviceType, credentialBackedUp } = registrationInfo
  if (credential.id !== id) throw new Error('the credential has another id than its attestation')
  await requireUsableKey(credential.publicKey)
  return {
    credentialId: id,
    publicKey: isoBase64URL.fromBuffer(credential.publicKey),
    signCount: credential.counter,
    rpId,
    transports: [...new Set(response.transports ?? [])],
    aaguid,
    isUserVerified: userVerified,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
  }
}

/** @throws Error for everything that is not an assertion of this credential, for this relying party and this challenge. */
export async function verifyAssertion(
  { response: { type, id, rawId, response } }: Assertion,
  challenge: string,
  { id: rpId, origins }: RelyingParty,
  credential: Credential,
): Promise<Verified> {
  requireSameOrigin(response.clientDataJSON)
  const { clientDataJSON, authenticatorData, signature } = response
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      type,
      id,
      rawId,
      response: { clientDataJSON, authenticatorData, signature },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID: rpId,
    requireUserVerification: false,
    // The library compares counters before it verifies the signature. `Credentials.use` compares them, for a right signature alone.
    credential: { id, publicKey: isoBase64URL.toBuffer(credential.public_key), counter: 0 },
  })
  if (!verified) throw new Error('the signature is wrong')
  const isBackupEligible = authenticationInfo.credentialDeviceType === 'multiDevice'
  // WebAuthn section 7.2, step 22: an authenticator never changes it.
  if (isBackupEligible !== credential.is_backup_eligible) throw new Error('the flag of backup eligibility has changed')
  return {
    factorId: credential.id,
    userId: credential.user_id,
    signCount: authenticationInfo.newCounter,
    isUserVerified: authenticationInfo.userVerified,
    isBackupEligible,
    isBackedUp: authenticationInfo.credentialBackedUp,
  }
}

/** Refuses a ceremony inside a frame of another site, where the person does not see for whom it is. */
function requireSameOrigin(clientDataJSON: string): void {
  const { crossOrigin, topOrigin } = decodeClientDataJSON(clientDataJSON)
  if (crossOrigin === true || topOrigin !== undefined) throw new Error('the ceremony ran in a frame of another origin')
}

/** The library stores any bytes as a key. An account whose passkey can never be proved would be locked. */
async function requireUsableKey(bytes: Uint8Array): Promise<void> {
  const key = decodeCredentialPublicKey(new Uint8Array(bytes)) as unknown as Map<number, unknown>
  const text = (name: number) => isoBase64URL.fromBuffer(new Uint8Array(key.get(name) as Uint8Array<ArrayBuffer>))
  const { kty, alg, crv, x, y, n, e } = cose.COSEKEYS
  if (key.get(kty) === cose.COSEKTY.EC2 && key.get(alg) === cose.COSEALG.ES256 && key.get(crv) === cose.COSECRV.P256) {
    const parameters = { name: 'ECDSA', namedCurve: 'P-256' }
    await crypto.subtle.importKey('jwk', { kty: 'EC', crv: 'P-256', x: text(x), y: text(y) }, parameters, false, [
      'verify',
    ])
  } else if (key.get(kty) === cose.COSEKTY.OKP && key.get(alg) === cose.COSEALG.EdDSA) {
    await crypto.subtle.importKey('jwk', { kty: 'OKP', crv: 'Ed25519', x: text(x) }, 'Ed25519', false, ['verify'])
  } else if (key.get(kty) === cose.COSEKTY.RSA && key.get(alg) === cose.COSEALG.RS256) {
    const { length } = key.get(n) as Uint8Array
    if (length < modulusBytes.least || length > modulusBytes.most)
      throw new Error(`the RSA modulus has ${length} bytes`)
    const parameters = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    await crypto.subtle.importKey('jwk', { kty: 'RSA', n: text(n), e: text(e) }, parameters, false, ['verify'])
  } else throw new Error('the type of the key is not that of its algorithm')
}

/**
 * The options ask for no attestation, so an honest browser sends none, or one that the new key itself has signed. The certificates of
 * other attestations name addresses that the library would fetch.
 */
function requireNoCertificate(attestationObject: string): void {
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject))
  const format = decoded.get('fmt')
  if (format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined)) return
  throw new Error(`an attestation of the format ${format} was not asked for`)
}
