/** 7.10 the form of a secret, and the line of the log that says what is wrong with one. */
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Webhook } from '../../../runtime/table.ts'
import { type FaultReason } from '../../../runtime/webhooks/claim.ts'
import { faultLine } from '../../../runtime/webhooks/faults.ts'
import { secretFault, secretKey } from '../../../runtime/webhooks/secret.ts'
import { type Proof, presets } from '../../../src/wire/webhook-schemes.ts'
import { standard } from '../../support/claims.ts'

describe('7.10 what a secret may look like', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const ed = generateKeyPairSync('ed25519')
    .publicKey.export({ type: 'spki', format: 'der' })
    .subarray(12)
    .toString('hex')

  it.each<[string, Proof, string]>([
    ['a text', presets.stripe.proof, 'whsec_x'],
    ['an Ed25519 key', presets.discord.proof, ed],
    ['a P-256 key', presets.sendgrid.proof, spki],
    ['base64 after whsec_', standard.proof, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['base64 alone', standard.proof, 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ])('%s', async (_what, proof, secret) => {
    expect(secretFault(proof, secret)).toBeUndefined()
    expect(typeof (await secretKey(proof, secret))).toBe('object')
  })

  it.each<[string, Proof, string]>([
    ['a line break at the end', presets.stripe.proof, 'secret\n'],
    ['a blank before it', presets.github.proof, ' secret'],
    ['quotes around it', presets.github.proof, '"secret"'],
    ['a control character', presets.github.proof, 'a\u0007b'],
    ['an Ed25519 key cut short', presets.discord.proof, ed.slice(2)],
    ['an Ed25519 key that is no hex', presets.discord.proof, `${ed.slice(2)}zz`],
    ['a P-256 key in PEM', presets.sendgrid.proof, `-----BEGIN PUBLIC KEY-----${spki}-----END PUBLIC KEY-----`],
    ['an Ed25519 key where P-256 is asked', presets.sendgrid.proof, Buffer.from(ed, 'hex').toString('base64')],
    ['a secret that is no base64', standard.proof, 'whsec_not base64!'],
    ['nothing after whsec_', standard.proof, 'whsec_'],
  ])('not %s', async (_what, proof, secret) => {
    expect(secretFault(proof, secret)).toEqual(expect.any(String))
    expect(typeof (await secretKey(proof, secret))).toBe('string')
  })

  it('a point that is not on the curve is no key', async () => {
    const off = Buffer.from(spki, 'base64')
    off[off.length - 1]! ^= 1
    expect(await secretKey(presets.sendgrid.proof, off.toString('base64'))).toBe('it is no key of this scheme')
  })

  it('every point of small order on edwards25519 is refused, in every spelling, with either sign', () => {
    const p = 2n ** 255n - 19n
    const mod = (x: bigint) => ((x % p) + p) % p
    const power = (base: bigint, exponent: bigint): bigint => {
      let result = 1n
      for (let b = mod(base), e = exponent; e > 0n; e >>= 1n, b = mod(b * b)) if (e & 1n) result = mod(result * b)
      return result
    }
    const inverse = (x: bigint) => power(x, p - 2n)
    const d = mod(-121665n * inverse(121666n))
    const root = power(2n, (p - 1n) / 4n)
    const xOf = (y: bigint): bigint | undefined => {
      const square = mod((y * y - 1n) * inverse(d * y * y + 1n))
      const x = power(square, (p + 3n) / 8n)
      if (mod(x * x) === square) return x
      return mod(mod(x * root) ** 2n) === square ? mod(x * root) : undefined
    }
    const add = ([x1, y1]: [bigint, bigint], [x2, y2]: [bigint, bigint]): [bigint, bigint] => {
      const t = mod(d * x1 * x2 * y1 * y2)
      return [mod((x1 * y2 + x2 * y1) * inverse(1n + t)), mod((y1 * y2 + x1 * x2) * inverse(1n - t))]
    }
    const encode = (y: bigint, sign: bigint) => {
      const hex = (y | (sign << 255n)).toString(16).padStart(64, '0')
      return Buffer.from(hex, 'hex').reverse().toString('hex')
    }
    // The order of the curve is 8 times a prime, so a point of order 8 generates the others.
    const prime = 2n ** 252n + 27742317777372353535851937790883648493n
    const small = new Set<bigint>()
    for (let y = 2n; small.size < 5; y++) {
      const x = xOf(y)
      if (x === undefined) continue
      let point: [bigint, bigint] = [0n, 1n]
      for (let base: [bigint, bigint] = [x, y], e = prime; e > 0n; e >>= 1n, base = add(base, base)) {
        if (e & 1n) point = add(point, base)
      }
      for (let multiple = point, i = 0; i < 8; i++, multiple = add(multiple, point)) small.add(multiple[1])
    }
    const spellings = [...small].flatMap((y) => (y + p < 2n ** 255n ? [y, y + p] : [y]))
    for (const y of spellings) {
      for (const sign of [0n, 1n]) {
        expect(secretFault(presets.discord.proof, encode(y, sign))).toBe('it is a key under which anybody can sign')
      }
    }
    expect(spellings).toHaveLength(7)
  })
})

describe('7.9 the line of a refusal', () => {
  const webhook = { name: 'shop', provider: 'shopify', secret: { env: 'SHOP_SECRET' } } as Webhook
  const reasons: Record<FaultReason, string> = {
    missing_header: 'a proxy',
    bad_encoding: 'a proxy',
    stale_timestamp: 'send it again',
    future_timestamp: 'clock',
    bad_signature: 'SHOP_SECRET',
    unset_secret: 'stack secret set SHOP_SECRET --stdin',
    malformed_secret: 'stack secret set SHOP_SECRET --stdin',
    unsupported_scheme: 'shopify',
  }

  it.each(Object.keys(reasons) as FaultReason[])('%s: whole sentences that say what to do next', (reason) => {
    const line = faultLine(webhook, { reason, detail: 'the header x is missing' })
    expect(line).toMatch(/^webhook shop refused a delivery: \w+: the header x is missing\. [A-Z].*\.$/)
    expect(line.replace('no proxy', 'a proxy')).toContain(reasons[reason])
  })
})
