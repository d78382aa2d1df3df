/** The same minimum written by hand: the raw bytes, the time window, the comparison of Web Crypto, JSON. */
import { type Env, serve } from './serve.ts'

/** Largest difference between the signed time and now, in seconds: the tolerance of Stripe's SDK. */
const windowSeconds = 300
const encoder = new TextEncoder()
const keys = new Map<string, Awaited<ReturnType<typeof crypto.subtle.importKey>>>()

async function isGenuine(secret: string, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  let key = keys.get(secret)
  if (!key) {
    const hmac = { name: 'HMAC', hash: 'SHA-256' }
    key = await crypto.subtle.importKey('raw', encoder.encode(secret), hmac, false, ['verify'])
    keys.set(secret, key)
  }
  return crypto.subtle.verify('HMAC', key, fromHex(signature), signed)
}

function fromHex(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

const parse = (body: Uint8Array) => JSON.parse(new TextDecoder().decode(body))

async function stripe(request: Request, env: Env) {
  const header = request.headers.get('stripe-signature') ?? ''
  const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? []
  if (time === undefined || signature === undefined) return undefined
  if (Math.abs(Date.now() / 1000 - Number(time)) > windowSeconds) return undefined
  const body = new Uint8Array(await request.arrayBuffer())
  const prefix = encoder.encode(`${time}.`)
  const signed = new Uint8Array(prefix.length + body.length)
  signed.set(prefix)
  signed.set(body, prefix.length)
  if (!(await isGenuine(env.STRIPE_SECRET, signature, signed))) return undefined
  const payload = parse(body)
  return { event: payload.type, payload }
}

async function github(request: Request, env: Env) {
  const [, signature] = /^sha256=([0-9a-f]{64})$/.exec(request.headers.get('x-hub-signature-256') ?? '') ?? []
  if (signature === undefined) return undefined
  const body = new Uint8Array(await request.arrayBuffer())
  if (!(await isGenuine(env.GITHUB_SECRET, signature, body))) return undefined
  const payload = parse(body)
  return { event: `${request.headers.get('x-github-event')}.${payload.action}`, payload }
}

export default serve(stripe, github)
