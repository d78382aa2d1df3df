/**
 * A debug device: a key of this process, enrolled for the user of an access token, that signs requests as an app does. The stack must
 * have debug devices, as every local one has.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { debugText } from '../../src/wire/debug-device.ts'
import { assertedText } from '../../src/wire/device-assertion.ts'

/** A request as the device signs it. */
export interface SignedRequest {
  method: string
  /** Path and query after the stack's base URL, in the spelling of the URL standard: `/orders?page=2`. */
  target: string
  body?: Uint8Array | string | undefined
  accessToken: string
  /** Unix time in seconds. Default: now. */
  time?: number
  /** 16 bytes in base64url. Default: random ones. */
  nonce?: string
}

export interface DebugDevice {
  /** `dev_…`. */
  id: string
  /** The uncompressed point in base64url. */
  publicKey: string
  /** @returns the value of the header `Device-Assertion` for one request. */
  assertionFor(request: SignedRequest): string
}

export interface DebugDeviceOptions {
  baseUrl: string
  accessToken: string
  /** Default: `debug`. */
  applicationKey?: string
  /** Default: `android`. */
  platform?: 'ios' | 'android'
  /** A token that an operator has issued. A local stack asks for none. */
  debugToken?: string | undefined
}

/** The stack has refused the device. The message is the answer's. */
export class DebugDeviceRefused extends Error {
  override name = 'DebugDeviceRefused'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Bytes of the uncompressed point, with which a SubjectPublicKeyInfo of P-256 ends. */
const pointBytes = 65
/** Bytes of a nonce. */
const nonceBytes = 16

/** Makes a key and enrols it. @throws DebugDeviceRefused, or what `fetch` throws. */
export async function enrolDebugDevice(options: DebugDeviceOptions): Promise<DebugDevice> {
  const { applicationKey = 'debug', platform = 'android', debugToken } = options
  const { privateKey, publicKey: spki } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicKey = spki.export({ type: 'spki', format: 'der' }).subarray(-pointBytes).toString('base64url')
  const about = { platform, application_key: applicationKey }
  const { challenge } = await post(options, '/auth/devices/debug/challenge', about)
  const signature = signatureOf(privateKey, debugText(String(challenge)))
  const { id } = await post(options, '/auth/devices/debug', {
    ...about,
    challenge,
    proof: { public_key: publicKey, signature },
    ...(debugToken === undefined ? {} : { debug_token: debugToken }),
  })
  return {
    id: String(id),
    publicKey,
    assertionFor({ method, target, body = '', accessToken, ...given }) {
      const { time = Math.floor(Date.now() / 1000), nonce = randomBytes(nonceBytes).toString('base64url') } = given
      const [bodyDigest, tokenDigest] = [digest(body), digest(accessToken)]
      const signed = assertedText({ time, nonce, method, target, bodyDigest, tokenDigest })
      return `v=1, k=${publicKey}, t=${time}, n=${nonce}, es256=${signatureOf(privateKey, signed)}`
    },
  }
}

async function post(
  { baseUrl, accessToken }: DebugDeviceOptions,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${baseUrl.replace(/\/+$/, '')}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.ok) return JSON.parse(text) as Record<string, unknown>
  throw new DebugDeviceRefused(response.status, sentenceOf(response.status, text))
}

function sentenceOf(status: number, text: string): string {
  if (status === 404) return 'this stack has no debug devices'
  try {
    const { error, error_description } = JSON.parse(text) as Record<string, unknown>
    return `${error}: ${error_description}`
  } catch {
    return `the stack answered ${status}`
  }
}

function digest(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('base64url')
}

/** @returns the signature in DER, as devices make it. */
function signatureOf(key: KeyObject, text: string): string {
  return sign('sha256', Buffer.from(text), key).toString('base64url')
}
