/**
 * A debug device: a key of this process, enrolled for the user of an access token, that signs requests as an app does. The stack must
 * have debug devices, as every local one has.
 */
import { Buffer } from 'node:buffer'
import type { webcrypto } from 'node:crypto'
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
  assertionFor(request: SignedRequest): Promise<string>
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

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const encoder = new TextEncoder()

/** Makes a key and enrols it. @throws DebugDeviceRefused, or what `fetch` throws. */
export async function enrolDebugDevice(options: DebugDeviceOptions): Promise<DebugDevice> {
  const { applicationKey = 'debug', platform = 'android', debugToken } = options
  const pair = await crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify'])
  const publicKey = base64url(await crypto.subtle.exportKey('raw', pair.publicKey))
  const about = { platform, application_key: applicationKey }
  const { challenge } = await post(options, '/auth/devices/debug/challenge', about)
  const signature = await sign(pair.privateKey, debugText(String(challenge)))
  const { id } = await post(options, '/auth/devices/debug', {
    ...about,
    challenge,
    proof: { public_key: publicKey, signature },
    ...(debugToken === undefined ? {} : { debug_token: debugToken }),
  })
  return {
    id: String(id),
    publicKey,
    async assertionFor({ method, target, body, accessToken, ...given }) {
      const { time = Math.floor(Date.now() / 1000), nonce = base64url(crypto.getRandomValues(new Uint8Array(16))) } =
        given
      const [bodyDigest, tokenDigest] = [await digest(body ?? ''), await digest(accessToken)]
      const signed = assertedText({ time, nonce, method, target, bodyDigest, tokenDigest })
      return `v=1, k=${publicKey}, t=${time}, n=${nonce}, es256=${await sign(pair.privateKey, signed)}`
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

async function digest(content: Uint8Array | string): Promise<string> {
  const bytes = typeof content === 'string' ? encoder.encode(content) : new Uint8Array(content)
  return base64url(await crypto.subtle.digest('SHA-256', bytes))
}

/** @returns the signature in DER, as devices make it. */
async function sign(key: webcrypto.CryptoKey, text: string): Promise<string> {
  const raw = new Uint8Array(await crypto.subtle.sign(ecdsa, key, encoder.encode(text)))
  const integers = [raw.subarray(0, 32), raw.subarray(32)].map((number) => {
    const first = number.findIndex((byte) => byte !== 0)
    const digits = number.subarray(first)
    const content = digits[0]! >= 0x80 ? [0, ...digits] : [...digits]
    return [0x02, content.length, ...content]
  })
  const content = integers.flat()
  return base64url(new Uint8Array([0x30, content.length, ...content]))
}

function base64url(bytes: ArrayBuffer | Uint8Array): string {
  return Buffer.from(bytes as Uint8Array).toString('base64url')
}
