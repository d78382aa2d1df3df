/** 7.1–7.10: secrets, claims in headers, the window, the signed bytes, keys and payloads; as plain data. */
import { createHash, createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fromBase64, fromBase64Url, fromHex, toHex } from '../../runtime/bytes.ts'
import type { Webhook } from '../../runtime/table.ts'
import {
  type Arrival,
  type Claim,
  type FaultReason,
  type Readers,
  readClaim as readBy,
} from '../../runtime/webhooks/claim.ts'
import { faultLine } from '../../runtime/webhooks/faults.ts'
import { parseForm, sortedForm } from '../../runtime/webhooks/form.ts'
import { eventKey, readPayload } from '../../runtime/webhooks/payload.ts'
import { readHmac } from '../../runtime/webhooks/proofs/hmac.ts'
import { fromDer, readPublicKey } from '../../runtime/webhooks/proofs/public-key.ts'
import { readSecret } from '../../runtime/webhooks/proofs/secret.ts'
import { readToken } from '../../runtime/webhooks/proofs/token.ts'
import { readUrl } from '../../runtime/webhooks/proofs/url.ts'
import { secretFault, secretKey } from '../../runtime/webhooks/secret.ts'
import { signedBytes } from '../../runtime/webhooks/signed.ts'
import { createStore } from '../../runtime/webhooks/store.ts'
import { urlsOf } from '../../runtime/webhooks/urls.ts'
import { bodyTimeFault, timestampFault } from '../../runtime/webhooks/window.ts'
import {
  impossibleKey,
  isStandardWebhooks,
  type Proof,
  presets,
  proofUnder,
  type Scheme,
  schemeOfBlock,
  standardWebhooks,
  type WebhookProvider,
  webhookProviders,
} from '../../src/wire/webhook-schemes.ts'
import { titled } from '../support/titles.ts'

const now = 1_700_000_000
const standard = schemeOfBlock(standardWebhooks)

const readers = {
  hmac: readHmac,
  url: readUrl,
  token: readToken,
  ed25519: readPublicKey,
  ecdsa: readPublicKey,
  secret: readSecret,
}
const readClaim = (proof: Proof, arrival: Arrival) => readBy(readers satisfies Readers, proof, arrival)

const bytes = (text: string | Buffer) => new Uint8Array(Buffer.from(text as string))
const at = (headers: Record<string, string>, urls: string[] = []): Arrival => ({
  headers: new Headers(headers),
  urls,
  now,
})
const claimed = (proof: Proof, headers: Record<string, string>, urls?: string[]) => readClaim(proof, at(headers, urls))
const reasonOf = (proof: Proof, headers: Record<string, string>, urls?: string[]) => {
  const claim = claimed(proof, headers, urls)
  return 'reason' in claim ? claim.reason : 'claimed'
}

/** Whether a delivery holds from its headers to its body. */
async function holds(proof: Proof, secret: string, headers: Record<string, string>, body: Uint8Array, urls?: string[]) {
  const claim = claimed(proof, headers, urls)
  if ('reason' in claim) return claim.reason
  const key = await secretKey(proof, secret)
  if (typeof key === 'string') return key
  return claim.holds(key, body as Uint8Array<ArrayBuffer>)
}

describe('7.4 the window', () => {
  it.each([
    [0, undefined],
    [-300, undefined],
    [300, undefined],
    [-301, 'stale_timestamp'],
    [301, 'future_timestamp'],
  ])('%i seconds', (offset, expected) => {
    expect(timestampFault(String(now + offset), now)?.reason).toBe(expected)
  })

  it.each([
    [-300_000, undefined],
    [-300_001, 'stale_timestamp'],
    [300_999, undefined],
    [301_000, 'future_timestamp'],
    [0.5, 'bad_encoding'],
    [Number.NaN, 'bad_encoding'],
  ])('%d milliseconds, in a body', (offset, expected) => {
    expect(bodyTimeFault(now * 1000 + offset, now)?.reason).toBe(expected)
  })

  it.each([undefined, null, String(now * 1000)])('%j in a body is no time', (value) => {
    expect(bodyTimeFault(value, now)?.reason).toBe('bad_encoding')
  })

  it('of a delivery that is refused for its time, the claim remains: only then can it be told whether it was genuine', async () => {
    const body = bytes('{}')
    const v1 = createHmac('sha256', 's')
      .update(`${now - 301}.{}`)
      .digest('hex')
    const stale = claimed(presets.stripe.proof, { 'stripe-signature': `t=${now - 301},v1=${v1}` })
    if (!('reason' in stale)) throw new Error('it was not refused')
    expect(stale.reason).toBe('stale_timestamp')
    expect(await stale.claim!.holds((await secretKey(presets.stripe.proof, 's')) as CryptoKey, body)).toBe(true)
    expect(await stale.claim!.holds((await secretKey(presets.stripe.proof, 't')) as CryptoKey, body)).toBe(false)
  })

  it('the half second in which exactly 300 passes is not lost to rounding', () => {
    expect(timestampFault(String(now - 300), now + 0.9)).toBeUndefined()
  })

  it.each(['', '1e9', '0x5', ' 1700000000', '1700000000.0', '-1', 'Infinity', '１７０００', '170000000000'])(
    'refuses %j',
    (text) => {
      expect(timestampFault(text, now)?.reason).toBe('bad_encoding')
    },
  )
})

describe('the signed bytes', () => {
  const text = (signed: Uint8Array) => Buffer.from(signed).toString('latin1')
  const body = Buffer.from('b{ts}$&{body}')

  it.each([
    ['{body}', 'b{ts}$&{body}'],
    ['{ts}.{body}', '7.b{ts}$&{body}'],
    ['$&{body}{body}', '$&b{ts}$&{body}b{ts}$&{body}'],
    ['v0:{ts}:{body}:{id}', 'v0:7:b{ts}$&{body}:{id}'],
    ['ä{ts}→{body}ö', '\u00c3\u00a47\u00e2\u0086\u0092b{ts}$&{body}\u00c3\u00b6'],
    ['{__proto__}{toString}{body}', '{__proto__}{toString}b{ts}$&{body}'],
  ])('%s', (signs, expected) => {
    expect(text(signedBytes(signs, { '{ts}': '7' }, body))).toBe(expected)
  })
})

describe('encodings have one spelling', () => {
  it.each(['0', '0G', 'AB', '0x', ' 00'])('hex refuses %j', (wrong) => {
    expect(fromHex(wrong)).toBeUndefined()
  })
  it.each(['A', 'AA', 'AAA', 'AB==', 'AA==\n', 'A-__', 'AAAA='])('base64 refuses %j', (wrong) => {
    expect(fromBase64(wrong)).toBeUndefined()
  })
  it.each(['A', 'AB', 'AA==', 'AA+/', ' AA'])('base64url refuses %j', (wrong) => {
    expect(fromBase64Url(wrong)).toBeUndefined()
  })
  it('and accept it', () => {
    expect([...fromHex('00ff')!]).toEqual([0, 255])
    expect([...fromBase64('AP8=')!]).toEqual([0, 255])
    expect([...fromBase64Url('AP8')!]).toEqual([0, 255])
  })
})

describe('what the headers claim', () => {
  const { proof } = presets.stripe
  const v1 = 'ab'.repeat(32)

  it.each(
    titled([
      [{}, 'missing_header'],
      [{ 'stripe-signature': '' }, 'missing_header'],
      [{ 'stripe-signature': `v1=${v1}` }, 'missing_header'],
      [{ 'stripe-signature': `t=${now}` }, 'missing_header'],
      [{ 'stripe-signature': `t=${now},v0=${v1}` }, 'unsupported_scheme'],
      [{ 'stripe-signature': `t=${now},v1=zz` }, 'bad_encoding'],
      [{ 'stripe-signature': `t=${now},v1=${v1}00` }, 'bad_encoding'],
      [{ 'stripe-signature': `t=${now},t=${now},v1=${v1}` }, 'bad_encoding'],
      [{ 'stripe-signature': `t=${now}${`,v1=${v1}`.repeat(9)}` }, 'bad_encoding'],
      [{ 'stripe-signature': `t= ${now},v1=${v1}` }, 'bad_encoding'],
      [{ 'stripe-signature': `t=${now - 301},v1=${v1}` }, 'stale_timestamp'],
      [{ 'stripe-signature': `t=${now + 301},v1=${v1}` }, 'future_timestamp'],
    ]),
  )('%s', (_title, headers, reason) => {
    expect(reasonOf(proof, headers as Record<string, string>)).toBe(reason)
  })

  it('blanks after a comma are no difference; a broken signature beside a sound one is passed over', () => {
    expect(reasonOf(proof, { 'stripe-signature': `t=${now}, v1=zz , v1=${v1}` })).toBe('claimed')
  })

  it.each(
    titled([
      ['github', { 'x-hub-signature-256': `sha1=${v1}` }, 'unsupported_scheme'],
      ['github', { 'x-hub-signature-256': v1 }, 'bad_encoding'],
      ['slack', { 'x-slack-signature': `v1=${v1}`, 'x-slack-request-timestamp': String(now) }, 'unsupported_scheme'],
      ['slack', { 'x-slack-signature': `v0=${v1}` }, 'missing_header'],
      ['realtime', { authorization: `Basic ${v1}` }, 'unsupported_scheme'],
      ['realtime', { authorization: `bearer ${v1}` }, 'unsupported_scheme'],
      ['realtime', { authorization: `Bearer ${v1}` }, 'claimed'],
      ['livekit', { authorization: `Bearer ${v1}` }, 'bad_encoding'],
      ['discord', { 'x-signature-ed25519': v1, 'x-signature-timestamp': String(now) }, 'bad_encoding'],
      ['discord', { 'x-signature-ed25519': v1 + v1 }, 'missing_header'],
      ['discord', { 'x-signature-ed25519': v1 + v1, 'x-signature-timestamp': String(now) }, 'claimed'],
      ['twilio', { 'x-twilio-signature': 'x' }, 'bad_encoding'],
      ['emailservice', { 'x-any-email-event-webhook-timestamp': String(now) }, 'missing_header'],
      [
        'emailservice',
        { 'x-a-email-event-webhook-signature': 'MAYC', 'x-b-email-event-webhook-signature': 'MAYC' },
        'bad_encoding',
      ],
    ] satisfies [WebhookProvider, Record<string, string>, string][]),
  )('%s', (_title, provider, headers, reason) => {
    expect(reasonOf(presets[provider].proof, headers as Record<string, string>, ['https://x.example/'])).toBe(reason)
  })
})

describe('7.3 Standard Webhooks', () => {
  const body = bytes('{"test": 2432232314}')
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const published = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  const arrival = (signature: string, now = 1_614_265_330): Arrival => ({
    headers: new Headers({ 'webhook-id': id, 'webhook-timestamp': '1614265330', 'webhook-signature': signature }),
    urls: [],
    now,
  })

  it.each([
    ['alone', published],
    ['after others', `v1a,AAAA v1,${'A'.repeat(43)}= ${published}`],
    ['before others', `${published} v1a,AAAA`],
  ])('the published known answer, in a list in any order: %s', async (_where, signature) => {
    const claim = readClaim(standard.proof, arrival(signature)) as Claim
    expect(await claim.holds((await secretKey(standard.proof, secret)) as CryptoKey, body)).toBe(true)
    expect(claim.id).toBe(id)
  })

  it.each(['v1a,AAAA', published.replace('v1,', 'v2,')])('only other versions: %s', (signature) => {
    expect(readClaim(standard.proof, arrival(signature))).toMatchObject({ reason: 'unsupported_scheme' })
  })

  it('an id with a dot could be cut elsewhere', () => {
    const { headers, ...rest } = arrival(published)
    headers.set('webhook-id', `${id}.1`)
    expect(readClaim(standard.proof, { headers, ...rest })).toMatchObject({ reason: 'bad_encoding' })
  })

  describe('the prefix svix- in place of webhook-', () => {
    const sent = (names: Record<string, string>) => {
      const values: Record<string, string> = { id, timestamp: '1614265330', signature: published }
      const headers = new Headers(Object.entries(names).map(([name, prefix]) => [prefix + name, values[name]!]))
      return readClaim(standard.proof, { headers, urls: [], now: 1_614_265_330 })
    }

    it('all three headers are read so, and the id is the signed one', async () => {
      const claim = sent({ id: 'svix-', timestamp: 'svix-', signature: 'svix-' }) as Claim
      expect(await claim.holds((await secretKey(standard.proof, secret)) as CryptoKey, body)).toBe(true)
      expect(claim.id).toBe(id)
    })

    it.each([
      { id: 'webhook-', timestamp: 'svix-', signature: 'svix-' },
      { id: 'svix-', timestamp: 'webhook-', signature: 'svix-' },
      { id: 'svix-', timestamp: 'svix-', signature: 'webhook-' },
      { id: 'webhook-', timestamp: 'webhook-', signature: 'svix-' },
    ])('never a mix of both: %j', (names) => {
      expect(sent(names)).toMatchObject({ reason: 'missing_header' })
    })

    it('of two whole sets, that of the standard counts', async () => {
      const { headers } = arrival(published)
      for (const name of ['id', 'timestamp', 'signature']) headers.set(`svix-${name}`, 'another')
      const claim = readClaim(standard.proof, { headers, urls: [], now: 1_614_265_330 }) as Claim
      expect(await claim.holds((await secretKey(standard.proof, secret)) as CryptoKey, body)).toBe(true)
    })

    it('not in another block', () => {
      const block = schemeOfBlock({ ...standardWebhooks, signs: '{ts}.{body}' })
      const headers = new Headers({ 'svix-signature': published, 'svix-timestamp': '1614265330' })
      expect(readClaim(block.proof, { headers, urls: [], now: 1_614_265_330 })).toMatchObject({
        reason: 'missing_header',
      })
    })
  })

  it('is that one block and no other', () => {
    expect(isStandardWebhooks({ ...standardWebhooks, header: 'Webhook-Signature' })).toBe(true)
    expect(isStandardWebhooks({ ...standardWebhooks, prefix: 'v1,' })).toBe(false)
    expect(isStandardWebhooks({ ...standardWebhooks, signs: '{id}.{body}' })).toBe(false)
  })
})

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
    // a point of order eight generates the others: the order of the curve is 8 times a prime
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

describe('DER', () => {
  const r = '11'.repeat(32)
  const der = (hex: string) => fromDer(bytes(Buffer.from(hex, 'hex')))

  it('r and s are padded to 32 bytes', () => {
    expect(toHex(der(`3008${'0202'}0102${'0202'}0304`)!.buffer)).toBe(`${'00'.repeat(30)}0102${'00'.repeat(30)}0304`)
    expect(toHex(der(`3046022100${'ff'.repeat(32)}022100${'ee'.repeat(32)}`)!.buffer)).toBe(
      'ff'.repeat(32) + 'ee'.repeat(32),
    )
  })

  it.each([
    ['bytes that follow', `30440220${r}0220${r}00`],
    ['a long form of the length', `3081440220${r}0220${r}`],
    ['a length that is too short', `30430220${r}0220${r}`],
    ['a superfluous zero', `3045022100${r}0220${r}`],
    ['a negative number', `30440220${'ff'.repeat(32)}0220${r}`],
    ['zero', `300602010002${'01'}01`],
    ['no number', '30060200020401020304'],
    ['33 bytes', `30450221${'01'}${r}0220${r}`],
    ['another tag', `31440220${r}0220${r}`],
    ['a third number', `30470220${r}0220${r}020101`],
    ['the raw form', r + r],
    ['nothing', ''],
  ])('not with %s', (_what, hex) => {
    expect(der(hex)).toBeUndefined()
  })
})

describe('the URL scheme', () => {
  const url = 'https://mycompany.com/myapp.php?foo=1&bar=2'
  const form = 'CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212'
  const published = { 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' }

  it('the published known answer, whatever the order of the form', async () => {
    expect(await holds(presets.twilio.proof, '12345', published, bytes(form), [url])).toBe(true)
    const reordered = form.split('&').reverse().join('&')
    expect(await holds(presets.twilio.proof, '12345', published, bytes(reordered), [url])).toBe(true)
    expect(await holds(presets.twilio.proof, '12345', published, bytes(`${form}&x=1`), [url])).toBe(false)
    expect(await holds(presets.twilio.proof, '12345', published, bytes(form), [`${url}&x=1`])).toBe(false)
  })

  it('equal values of a name count once, and a name’s values are sorted', () => {
    expect(Buffer.from(sortedForm(bytes('b=2&a=z&b=1&b=2&__proto__=x'))).toString()).toBe('__proto__xazb1b2')
  })

  it('bytes that are no text are signed as they are', () => {
    expect([...sortedForm(bytes('a=%FF&a=%FE'))]).toEqual([0x61, 0xfe, 0x61, 0xff])
    // no text counts as the same value
    expect(sortedForm(bytes('a=%FF&a=%F4%8F%BF%BF%C3%BF&a=%ED%A0%80%FF')).length).toBe(3 + 1 + 6 + 4)
    expect([...sortedForm(bytes('a=%zz+%4'))]).toEqual([...Buffer.from('a%zz %4')])
  })

  const megabyte = 1_000_000
  const distinct = Array.from({ length: 90_000 }, (_, index) => `name${(index * 7919) % 90_000}=`).join('&')

  it.each([
    ['one name in every field', 'a=&'.repeat(megabyte / 3)],
    ['another name in every field', distinct],
    ['values that differ at their end', `${'x'.repeat(1000)}=1&`.repeat(1000)],
  ])('a form of a megabyte, however many fields it has, costs no more than a few sorts: %s', async (_what, form) => {
    const body = bytes(form)
    const plain = () => {
      const pairs = new Set([...new URLSearchParams(form)].map(([name, value]) => `${name}\0${value}`))
      return [...pairs].sort().join('').replaceAll('\0', '')
    }
    const fastest = (work: () => unknown) =>
      Math.min(
        ...Array.from({ length: 3 }, () => {
          const began = performance.now()
          work()
          return performance.now() - began
        }),
      )
    expect(Buffer.from(sortedForm(body)).toString()).toBe(plain())
    expect(fastest(() => sortedForm(body))).toBeLessThan(30 * fastest(plain))
    const signature = createHmac('sha1', '12345')
      .update(url + plain())
      .digest('base64')
    expect(await holds(presets.twilio.proof, '12345', { 'x-twilio-signature': signature }, body, [url])).toBe(true)
  })

  it('fields are sorted as JavaScript sorts their texts, by UTF-16 units', () => {
    const texts = ['é', 'z', '\uffff', '\ue000', '\ud7ff', '🚀', '\u{10ffff}', 'a', 'ab', '', '\0']
    const form = new URLSearchParams(texts.flatMap((name) => texts.map((value) => [name, value]))).toString()
    const pairs = texts.toSorted().flatMap((name) => texts.toSorted().map((value) => name + value))
    expect(Buffer.from(sortedForm(bytes(form))).toString()).toBe(pairs.join(''))
  })

  it('an escape never reaches into the next field', () => {
    expect(Buffer.from(sortedForm(bytes('b=%4&a=%&c%=1&&=d&e'))).toString()).toBe('da%b%4c%1e')
  })

  it('the spellings that are tried: with and without the port, apostrophes as typed', () => {
    expect(urlsOf(undefined, "https://x.example/a%27b?c='", '?c=')).toEqual([
      "https://x.example/a%27b?c='",
      "https://x.example/a'b?c='",
      "https://x.example:443/a%27b?c='",
      "https://x.example:443/a'b?c='",
    ])
    expect(urlsOf('http://x.example:8080/hook', 'http://localhost/webhooks/sms?q=1', '?q=1')).toEqual([
      'http://x.example:8080/hook?q=1',
      'http://x.example/hook?q=1',
    ])
  })

  it('with bodySHA256 the URL is signed, and the body is JSON of that hash', async () => {
    const body = bytes('{"EventType":"onMessageAdded"}')
    const hashed = `https://x.example/h?bodySHA256=${createHash('sha256').update(body).digest('hex')}`
    const headers = { 'x-twilio-signature': createHmac('sha1', '12345').update(hashed).digest('base64') }
    expect(await holds(presets.twilio.proof, '12345', headers, body, [hashed])).toBe(true)
    expect(await holds(presets.twilio.proof, '12345', headers, bytes('{}'), [hashed])).toBe(false)
    expect(claimed(presets.twilio.proof, headers, [hashed])).toMatchObject({ isJson: true })
  })
})

describe('the token scheme', () => {
  const body = bytes('{"event":"room_started"}')
  const sha256 = createHash('sha256').update(body).digest('base64')
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = (claims: object, header: object = { alg: 'HS256', typ: 'JWT' }) => {
    const signed = `${part(header)}.${part(claims)}`
    return `${signed}.${createHmac('sha256', 'devsecret').update(signed).digest('base64url')}`
  }
  const sent = (claims: object, header?: object) =>
    holds(presets.livekit.proof, 'devsecret', { authorization: token(claims, header) }, body)

  it.each<[string, object, object | undefined, unknown]>([
    ['a sound one', { sha256, nbf: now, exp: now + 300 }, undefined, true],
    ['300 s after it began', { sha256, nbf: now - 300, exp: now }, undefined, true],
    ['301 s after it began', { sha256, nbf: now - 301, exp: now + 300 }, undefined, 'stale_timestamp'],
    ['one that is over', { sha256, nbf: now - 10, exp: now - 1 }, undefined, 'stale_timestamp'],
    ['301 s ahead', { sha256, nbf: now + 301, exp: now + 600 }, undefined, 'future_timestamp'],
    ['only an end', { sha256, exp: now + 300 }, undefined, true],
    ['an end that is far', { sha256, exp: now + 4000 }, undefined, 'future_timestamp'],
    ['no end', { sha256, nbf: now }, undefined, 'bad_encoding'],
    ['a time that is a text', { sha256, nbf: String(now), exp: now + 300 }, undefined, 'bad_encoding'],
    ['another body', { sha256: sha256.replace(/^./, 'A'), nbf: now, exp: now + 300 }, undefined, false],
    ['no hash', { nbf: now, exp: now + 300 }, undefined, 'bad_encoding'],
    ['alg none', { sha256, nbf: now }, { alg: 'none' }, 'unsupported_scheme'],
    ['alg HS512', { sha256, nbf: now }, { alg: 'HS512' }, 'unsupported_scheme'],
    ['crit', { sha256, nbf: now }, { alg: 'HS256', crit: ['x'] }, 'unsupported_scheme'],
  ])('%s', async (_what, claims, header, expected) => {
    expect(await sent(claims, header)).toBe(expected)
  })
})

describe('7.2 which event a delivery is about', () => {
  const key = (provider: WebhookProvider, payload: unknown, headers: Record<string, string> = {}) =>
    eventKey(presets[provider].event, new Headers(headers), payload)

  it.each<[WebhookProvider, unknown, Record<string, string>, string | undefined]>([
    ['payments', { type: 'invoice.paid' }, {}, 'invoice.paid'],
    ['payments', { event: 'invoice.paid' }, {}, undefined],
    ['payments', { type: 7 }, {}, undefined],
    ['payments', null, {}, undefined],
    ['payments', JSON.parse('{"__proto__":{"type":"x"}}'), {}, undefined],
    ['codehost', { action: 'opened' }, { 'x-codehost-event': 'issues' }, 'issues.opened'],
    ['github', {}, { 'x-github-event': 'push' }, 'push'],
    ['github', { action: 'x' }, {}, undefined],
    ['chat', { type: 'event_callback', event: { type: 'message' } }, {}, 'event_callback'],
    ['slack', { type: 'event_callback', event: { type: 'message' } }, {}, 'message'],
    ['slack', { type: 'url_verification' }, {}, 'url_verification'],
    ['slack', { command: '/deploy' }, {}, '/deploy'],
    ['sms', { EventType: 'onMessageAdded' }, {}, 'onMessageAdded'],
    ['sms', { SmsStatus: 'received' }, {}, undefined],
    ['twilio', { SmsStatus: 'received', MessageSid: 'SM1' }, {}, 'received'],
    ['twilio', { MessageStatus: 'delivered', SmsStatus: 'delivered' }, {}, 'delivered'],
    ['twilio', { CallStatus: 'ringing' }, {}, 'ringing'],
    ['twilio', { EventType: ['a', 'b'] }, {}, undefined],
    ['realtime', { event: 'room_started' }, {}, 'room_started'],
    ['realtime', { type: 'room_started' }, {}, undefined],
    ['livekit', { event: 'room_started' }, {}, 'room_started'],
    ['chatbot', { type: 1 }, {}, 'PING'],
    ['chatbot', { type: 2 }, {}, 'INTERACTION_CREATE'],
    ['chatbot', { type: 0 }, {}, 'type_0'],
    ['chatbot', { type: 5 }, {}, 'type_5'],
    ['chatbot', { type: 1.5 }, {}, undefined],
    ['chatbot', { type: '1' }, {}, undefined],
    ['chatbot', { type: 1, event: { type: 'ENTITLEMENT_CREATE' } }, {}, 'PING'],
    ['discord', { type: 1, event: { type: 'ENTITLEMENT_CREATE' } }, {}, 'ENTITLEMENT_CREATE'],
    ['discord', { type: 0 }, {}, 'PING'],
    ['discord', { type: 3 }, {}, 'type_3'],
    ['emailservice', [{ event: 'delivered' }], {}, 'event_batch'],
    ['payments', [{ type: 'invoice.paid' }], {}, undefined],
    ['twilio', [{ type: 'com.twilio.a', data: {} }], {}, 'com.twilio.a'],
    ['twilio', [{ type: 'com.twilio.a' }, { type: 'com.twilio.a' }], {}, 'com.twilio.a'],
    ['twilio', [{ type: 'com.twilio.a' }, { type: 'com.twilio.b' }], {}, 'event_batch'],
    ['twilio', [{ type: 'com.twilio.a' }, {}], {}, 'event_batch'],
    ['twilio', [], {}, undefined],
    ['shopify', { action: 'x' }, { 'x-shopify-topic': 'orders/create' }, 'orders/create'],
    ['shopify', { topic: 'orders/create' }, {}, undefined],
    ['linear', { type: 'Issue', action: 'create' }, {}, 'Issue.create'],
    ['linear', { type: 'OAuthAuthorization' }, { 'linear-event': 'Issue' }, 'OAuthAuthorization'],
    ['linear', { action: 'create' }, { 'linear-event': 'Issue' }, undefined],
    ['paddle', { event_type: 'transaction.completed', type: 'x' }, {}, 'transaction.completed'],
    ['zoom', { event: 'meeting.started', payload: {} }, {}, 'meeting.started'],
    ['zoom', { type: 'meeting.started' }, {}, undefined],
    ['meta', { object: 'page', entry: [{ changes: [{ field: 'feed' }, { field: 'feed' }] }] }, {}, 'page.feed'],
    ['meta', { object: 'page', entry: [{ changes: [{ field: 'feed' }] }, { messaging: [{}] }] }, {}, 'event_batch'],
    ['meta', { object: 'page', entry: [{ messaging: [{}], changes: 'x' }] }, {}, 'page.messaging'],
    ['meta', { object: 'page', entry: [{ standby: [{}], messaging: [] }] }, {}, 'page.standby'],
    ['meta', { object: 'user', entry: [{ changed_fields: ['photos'] }] }, {}, 'user.photos'],
    ['meta', { object: 'page', entry: [] }, {}, 'page'],
    ['meta', { entry: [{ changes: [{ field: 'feed' }] }] }, {}, undefined],
    ['meta', { object: 'page', entry: [{ changes: [{ field: 7 }, null] }, null] }, {}, 'page'],
    ['gitlab', { object_kind: 'push', event_name: 'push' }, { 'x-gitlab-event': 'Issue Hook' }, 'push'],
    ['gitlab', { object_kind: 'merge_request', object_attributes: { action: 'open' } }, {}, 'merge_request.open'],
    ['gitlab', { event_name: 'project_create', action: 'x' }, {}, 'project_create'],
    ['gitlab', {}, { 'x-gitlab-event': 'Push Hook' }, undefined],
  ])('%s %j', (provider, payload, headers, expected) => {
    expect(key(provider, payload, headers)).toBe(expected)
  })

  it.each<[WebhookProvider, string, boolean]>([
    ['sendgrid', 'event_batch', true],
    ['sendgrid', 'delivered', false],
    ['chatbot', 'type_3', true],
    ['chatbot', 'type_1', false],
    ['chatbot', 'type_0', true],
    ['chatbot', 'type_01', false],
    ['discord', 'type_0', false],
    ['chatbot', 'MESSAGE', false],
    ['discord', 'ENTITLEMENT_CREATE', true],
    ['slack', 'event_callback', false],
    ['chat', 'event_callback', true],
    ['github', 'issues.*', false],
    ['github', 'issues.opened', true],
    ['payments', '', false],
    ['meta', 'page.feed', true],
    ['meta', 'page', false],
    ['meta', 'event_batch', true],
    ['shopify', 'orders/create', true],
    ['linear', 'Issue.create', true],
  ])('a build warns of a key that can never arrive: %s %j %s', (provider, bound, isPossible) => {
    expect(impossibleKey(presets[provider], bound) === undefined).toBe(isPossible)
  })
})

describe('7.1 how a body is read', () => {
  const read = (provider: WebhookProvider, body: string | Buffer) =>
    readPayload(presets[provider].payload, bytes(body)).value

  it.each<[WebhookProvider, string, unknown]>([
    ['payments', '{"a":1}', { a: 1 }],
    ['github', 'payload=%7B%22action%22%3A%22opened%22%7D', { action: 'opened' }],
    ['slack', 'payload=%7B%22type%22%3A%22block_actions%22%7D', { type: 'block_actions' }],
    ['slack', 'command=%2Fdeploy&text=now+please', { command: '/deploy', text: 'now please' }],
    ['twilio', 'a=1&b=2&b=3', { a: '1', b: ['2', '3'] }],
    ['twilio', '{"a":1}', { '{"a":1}': '' }],
  ])('%s %s', (provider, body, expected) => {
    expect(read(provider, body)).toEqual(expected)
  })

  it('what nothing reads arrives as bytes', () => {
    expect(read('payments', Buffer.from([0xff]))).toEqual(new Uint8Array([0xff]))
    expect(read('codehost', 'payload=%7B%7D')).toBeInstanceOf(Uint8Array)
  })

  it('a field named __proto__ is a field', () => {
    const form = parseForm(bytes('__proto__=x&constructor=y'))
    expect(Object.entries(form)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })
})

describe('7.7 what a delivery is known by', () => {
  const claim: Claim = { signed: () => bytes('signed'), holds: async () => true }
  const hash = `sha256:${createHash('sha256').update('signed').digest('hex')}`

  it.each(
    titled<[string | undefined, Partial<Claim>, unknown, string]>([
      ['id', {}, { id: 'evt_1' }, 'id:evt_1'],
      ['id', {}, { id: 7 }, hash],
      ['id', {}, {}, hash],
      [undefined, {}, { id: 'evt_1' }, hash],
      [undefined, { id: 'msg_1' }, { id: 'evt_1' }, 'id:msg_1'],
      ['id', {}, { id: 'a\0b' }, `id-sha256:${createHash('sha256').update('a\0b').digest('hex')}`],
      [
        'id',
        {},
        { id: 'x'.repeat(65536) },
        `id-sha256:${createHash('sha256').update('x'.repeat(65536)).digest('hex')}`,
      ],
    ]),
  )('%s', async (_title, idField, more, payload, expected) => {
    const scheme = { ...presets.payments, idField } as Scheme
    const id = await createStore().deliveryId(scheme, 'a.key', { ...claim, ...more }, payload, bytes('body'))
    expect(id).toBe(expected)
  })

  it('where the event stands in a header, two events over one body are two deliveries', async () => {
    const idOf = (key: string) => createStore().deliveryId(presets.shopify, key, claim, {}, bytes('body'))
    const ids = [await idOf('orders/create'), await idOf('orders/paid'), await idOf('orders/create')]
    expect([ids[0] === ids[2], ids[0] === ids[1], ids[0] === hash]).toEqual([true, false, false])
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

describe('gitlab', () => {
  const { proof } = presets.gitlab
  const body = bytes('{"object_kind":"push"}')
  const sent = (token: string, secret = 'a secret token') => holds(proof, secret, { 'x-gitlab-token': token }, body)

  it.each([
    ['a secret token', true],
    ['a secret toke', false],
    ['a secret token ', true], // white space around the value of a header is no part of it
    ['a secret tokem', false],
    ['A secret token', false],
    ['a secret token, a secret token', false],
    ['', 'missing_header'],
    ['x'.repeat(8193), 'bad_encoding'],
  ])('the token is the whole secret: %.30s', async (token, expected) => {
    expect(await sent(token)).toBe(expected)
  })

  it('an entry that begins with whsec_ is a signing token, and the plain header proves nothing', () => {
    expect(proofUnder(proof, 'whsec_c2VjcmV0')).toMatchObject({ by: 'hmac', header: 'webhook-signature' })
    expect(proofUnder(proof, 'a secret token')).toBe(proof)
    expect(secretFault(proof, 'whsec_no base64')).toEqual(expect.any(String))
    expect(secretFault(proof, 'a secret token')).toBeUndefined()
  })
})

it('every provider of the closed list has its row, and no row is without a provider', () => {
  expect(Object.keys(presets).sort()).toEqual([...webhookProviders].sort())
})

describe('a comparison is whole', () => {
  const body = bytes('x')

  it('a signature of the right bytes but one is refused, alone or among several', async () => {
    const hex = createHmac('sha256', 's').update(`${now}.x`).digest('hex')
    const sent = (...signatures: string[]) =>
      holds(presets.stripe.proof, 's', { 'stripe-signature': `t=${now},v1=${signatures.join(',v1=')}` }, body)
    expect(await sent(hex)).toBe(true)
    for (const index of [0, 30, 63]) {
      const wrong = hex.slice(0, index) + (hex[index] === '0' ? '1' : '0') + hex.slice(index + 1)
      expect([await sent(wrong), await sent(wrong, wrong), await sent(wrong, hex)]).toEqual([false, false, true])
    }
  })

  it('a public key verifies what its owner signed, and nothing else', async () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const secret = pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    const signature = signWith('sha256', Buffer.from(`${now}x`), pair.privateKey).toString('base64')
    const headers = {
      'x-twilio-email-event-webhook-signature': signature,
      'x-twilio-email-event-webhook-timestamp': String(now),
    }
    expect(await holds(presets.sendgrid.proof, secret, headers, body)).toBe(true)
    expect(await holds(presets.emailservice.proof, secret, headers, body)).toBe(true)
    expect(await holds(presets.sendgrid.proof, secret, headers, bytes('y'))).toBe(false)
  })
})
