/**
 * Deliveries beside a correctly signed one. A hostile twin differs in one part that the scheme covers, or that no sender
 * writes so, and must be refused; a legitimate one differs in a part that the scheme leaves free, and must be accepted.
 */
import { createHash, createHmac, createPrivateKey, createSign, generateKeyPairSync, sign } from 'node:crypto'
import { type Claim, claimsOf, type Encoding, encode, forge, privateKey, type Scheme, tokenText } from './schemes.ts'
import { deliveryId, nowSeconds, type Sender } from './senders.ts'

export interface Delivery {
  /** One line each: a name may come twice. */
  headers: [name: string, value: string][]
  body: Uint8Array
  /** Follows the webhook's path. */
  query?: string
  /** Sent in chunks of this size. */
  chunk?: number
}

export type Twin = [what: string, delivery: Delivery]

/** What twins are made of: a claim, and its signature as it is written. */
interface Base {
  sender: Sender
  scheme: Scheme
  claim: Claim
  signature: string
  /** Beside those that the scheme is about. */
  extra: Record<string, string>
}

const bytesOf = (...parts: (string | Uint8Array)[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))))

const isForm = ({ contentType }: Sender) => contentType.includes('form')

/** @param url where the webhook is. */
async function baseOf(sender: Sender, url: string): Promise<Base> {
  const { scheme, secret, event } = sender
  const body = sender.body(event)
  const claim = { body, timestamp: String(nowSeconds()), id: deliveryId, url, secret }
  const signature = signatureOf(scheme, claim)
  const own = scheme.headers(signature, claim)
  const signed = Object.entries(await sender.sign(body, { url }))
  const extra = { 'content-type': sender.contentType, ...Object.fromEntries(signed.filter(([name]) => !(name in own))) }
  return { sender, scheme, claim, signature, extra }
}

const signatureOf = (scheme: Scheme, claim: Claim, covered = scheme.covered(claim)) =>
  encode(scheme.sign(covered, claim.secret), scheme.encoding)

const lines = (headers: Record<string, string>): Delivery['headers'] => Object.entries(headers)

/** The base with another signature, written as the scheme writes one. */
const withSignature = ({ scheme, claim, extra }: Base, signature: string): Delivery => ({
  headers: lines({ ...extra, ...scheme.headers(signature, claim) }),
  body: claim.body,
})

/** Signed as it is claimed, and sent so. */
function withClaim({ scheme, claim, extra }: Base, change: Partial<Claim>): Delivery {
  const changed = { ...claim, ...change }
  return { headers: lines({ ...extra, ...forge(scheme, changed) }), body: changed.body }
}

/** Signed as it is claimed, but sent with another body. */
const sentAs = (base: Base, body: Uint8Array, signedBody = base.claim.body): Delivery => ({
  ...withClaim(base, { body: signedBody }),
  body,
})

/** @param change returns `undefined` to leave a header out. */
function withHeaders(base: Base, change: (name: string, value: string) => Delivery['headers'] | undefined): Delivery {
  const { headers, body } = withSignature(base, base.signature)
  return { headers: headers.flatMap(([name, value]) => change(name, value) ?? []), body }
}

const withHeader = (base: Base, header: string, ...values: string[]): Delivery =>
  withHeaders(base, (name, value) => (name === header ? values.map((other) => [name, other]) : [[name, value]]))

/** The base with a longer body, whose signature is as it is wanted. */
function searched(base: Base, isWanted: (signature: string) => boolean): Base {
  for (let length = 0; length < 5_000; length++) {
    const claim = { ...base.claim, body: bytesOf(base.claim.body, 'x'.repeat(length)) }
    const signature = signatureOf(base.scheme, claim)
    if (isWanted(signature)) return { ...base, claim, signature }
  }
  throw new Error('no such signature was found')
}

/** All that must be answered 401. */
export async function twins(sender: Sender, url: string): Promise<Twin[]> {
  const base = await baseOf(sender, url)
  return [
    ...bodyTwins(base),
    ...signatureTwins(base),
    ...encodingTwins(base),
    ...keyTwins(base),
    ...prefixTwins(base),
    ...headerTwins(base),
    ...(base.scheme.isTimed ? [...timeTwins(base), ...boundaryTwins(base)] : []),
    ...ownTwins(base),
  ]
}

function ownTwins(base: Base): Twin[] {
  const { header } = base.scheme
  if (base.scheme.encoding === 'base64url') return tokenTwins(base)
  if (base.scheme.idHeader) return standardTwins(base)
  if (header === 'x-signature-ed25519') return ed25519Twins(base)
  if (header.endsWith('email-event-webhook-signature')) return ecdsaTwins(base)
  if (isForm(base.sender)) return formTwins(base)
  if (header === 'linear-signature') return bodyTimeTwins(base)
  return base.scheme.prefix === 'v1=' || base.scheme.prefix === 'h1=' ? partsTwins(base) : []
}

function bodyTwins(base: Base): Twin[] {
  const { body } = base.claim
  const flipped = (at: number) => body.map((byte, index) => (index === at ? byte ^ 1 : byte))
  const raw = (...bytes: number[]) => bytesOf(body, isForm(base.sender) ? '&Raw=' : '', new Uint8Array(bytes))
  const bom = bytesOf('\ufeff')
  const text = Buffer.from(body).toString()
  const changed: [string, Uint8Array][] = [
    ['the first byte changed', flipped(0)],
    ['a byte in the middle changed', flipped(body.length >> 1)],
    ['the last byte changed', flipped(body.length - 1)],
    ['a line feed added', bytesOf(body, '\n')],
    ['a zero byte added', bytesOf(body, '\0')],
    ['a blank before', bytesOf(' ', body)],
    ['the first byte removed', body.subarray(1)],
    ['the last byte removed', body.subarray(0, -1)],
    ['the body removed', new Uint8Array()],
    ['the body twice', bytesOf(body, body)],
    ['a byte order mark added', bytesOf(bom, body)],
    ['CRLF instead of LF', bytesOf(text.replaceAll(/(?<!\r)\n/g, '\r\n').replaceAll('%0A', '%0D%0A'))],
    ['LF instead of CRLF', bytesOf(text.replaceAll('\r\n', '\n'))],
    ['another normal form of the text', bytesOf(text.normalize('NFD'))],
    ['the same JSON, written otherwise', bytesOf(text.replaceAll(/\n */g, ' '))],
  ]
  return [
    ...changed
      .filter(([, sent]) => !Buffer.from(sent).equals(body))
      .map(([what, sent]): Twin => [what, sentAs(base, sent)]),
    ['a byte order mark removed', sentAs(base, body, bytesOf(bom, body))],
    // a decoder makes U+FFFD of what is no text
    ['FE changed to FF', sentAs(base, raw(0xff), raw(0xfe))],
    ['FF where U+FFFD was signed', sentAs(base, raw(0xff), raw(0xef, 0xbf, 0xbd))],
  ]
}

/** The signature as text, and what it was made of. */
function signatureTwins(base: Base): Twin[] {
  const { scheme, claim, signature } = base
  const { body, timestamp } = claim
  const filler = scheme.encoding === 'hex' ? '00' : 'AAAA'
  const swap = (at: number) => signature.slice(0, at) + (signature[at] === 'a' ? 'b' : 'a') + signature.slice(at + 1)
  const zeros = encode(new Uint8Array(Buffer.from(signature, scheme.encoding).length), scheme.encoding)
  const texts: [string, string][] = [
    ['an empty signature', ''],
    ['a signature without its last character', signature.slice(0, -1)],
    ['a signature without its first character', signature.slice(1)],
    ['half of the signature', signature.slice(0, signature.length / 2)],
    ['a longer signature', signature + filler],
    ['a signature after a filler', filler + signature],
    ['the signature twice', signature + signature],
    ['its first character changed', swap(0)],
    ['its last but one pair changed', swap(signature.length - 5)],
    ['a blank inside', `${signature.slice(0, 8)} ${signature.slice(8)}`],
    ['a tab inside', `${signature.slice(0, 8)}\t${signature.slice(8)}`],
    ['junk after it', `${signature}zz`],
    ['a semicolon after it', `${signature};`],
    ['an escape after it', `${signature}%00`],
    ['in quotes', `"${signature}"`],
    ['zeros', zeros],
    ['no signature but a word', 'undefined'],
  ]
  const { prefix } = scheme
  if (prefix !== '' && prefix !== 'Bearer ') texts.push(['a blank before it', ` ${signature}`])
  const otherwise: [string, Uint8Array][] = [
    ['of another body', scheme.covered({ ...claim, body: bytesOf(body, '&x=1') })],
    ['of an empty body', scheme.covered({ ...claim, body: new Uint8Array() })],
    ['of nothing', new Uint8Array()],
    ['of the body alone', body],
    ['of the time alone', bytesOf(timestamp)],
    ['of the time, a dot and the body', bytesOf(timestamp, '.', body)],
    ['of the time and the body', bytesOf(timestamp, body)],
    ['of the body and the time', bytesOf(body, timestamp)],
    ['of v0, the time and the body', bytesOf('v0:', timestamp, ':', body)],
    ['of the body’s hash', createHash('sha256').update(body).digest()],
    ['of what is signed, and a line feed', bytesOf(scheme.covered(claim), '\n')],
  ]
  const right = scheme.covered(claim)
  return [
    ...texts.map(([what, text]): Twin => [what, withSignature(base, text)]),
    ...otherwise
      .filter(([, covered]) => !right.equals(covered))
      .map(
        ([what, covered]): Twin => [
          `a signature ${what}`,
          withSignature(base, signatureOf(scheme, claim, Buffer.from(covered))),
        ],
      ),
    [
      'a signature of another secret',
      withSignature(base, signatureOf(scheme, { ...claim, secret: base.sender.otherSecret })),
    ],
  ]
}

/** The right bytes, written otherwise: one signature has one spelling. */
function encodingTwins(base: Base): Twin[] {
  const { encoding } = base.scheme
  const other = (what: string, from: Base, to: Encoding): Twin => {
    const bytes = Buffer.from(from.signature, encoding)
    return [`${to} instead of ${encoding}${what}`, withSignature(from, encode(bytes, to))]
  }
  if (encoding === 'hex') {
    const zero = searched(base, (signature) => /^(..)*?00/.test(signature))
    const at = /^(?:..)*?(?=00)/.exec(zero.signature)![0].length
    return [
      other('', base, 'base64'),
      other('', base, 'base64url'),
      ['upper case', withSignature(base, base.signature.toUpperCase())],
      [
        'one letter in upper case',
        withSignature(
          base,
          base.signature.replace(/[a-f]/, (letter) => letter.toUpperCase()),
        ),
      ],
      ['zz for a zero byte', withSignature(zero, `${zero.signature.slice(0, at)}zz${zero.signature.slice(at + 2)}`)],
      [
        'a single zero for a zero byte',
        withSignature(zero, zero.signature.slice(0, at) + zero.signature.slice(at + 1)),
      ],
      ['0x before it', withSignature(base, `0x${base.signature}`)],
      ['a colon between bytes', withSignature(base, base.signature.match(/../g)!.join(':'))],
    ]
  }
  const isUrl = encoding === 'base64url'
  // the letters that the two alphabets do not share, and for base64 some padding
  const told = searched(base, (signature) => /[-_+/]/.test(signature) && (isUrl || signature.endsWith('=')))
  const canonical = /^(.*?)([A-Za-z0-9+/_-])(=*)$/.exec(told.signature)!
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const letter = canonical[2]!.replace('-', '+').replace('_', '/')
  const next = alphabet[alphabet.indexOf(letter) + 1]!.replace('+', isUrl ? '-' : '+').replace('/', isUrl ? '_' : '/')
  const { signature } = told
  return [
    other('', base, 'hex'),
    ['bits beyond the last byte', withSignature(told, canonical[1]! + next + canonical[3]!)],
    ['one padding too many', withSignature(told, `${signature}=`)],
    ['padding inside', withSignature(told, `${signature.slice(0, 4)}=${signature.slice(4)}`)],
    ...(isUrl
      ? ([
          ['the alphabet of base64', withSignature(told, signature.replaceAll('-', '+').replaceAll('_', '/'))],
        ] satisfies Twin[])
      : ([
          ['without padding', withSignature(told, signature.replace(/=+$/, ''))],
          ['the alphabet of base64url', withSignature(told, signature.replaceAll('+', '-').replaceAll('/', '_'))],
          other(', padding and all', told, 'base64url'),
          ['percent-encoded', withSignature(told, encodeURIComponent(signature))],
        ] satisfies Twin[])),
  ]
}

/** The right text, keyed with what is not the secret, or hashed with what is not the hash. */
function keyTwins(base: Base): Twin[] {
  const { scheme, claim } = base
  const covered = scheme.covered(claim)
  const mac = (key: string | Buffer, hash: string = scheme.hash ?? 'sha256') =>
    withSignature(base, encode(createHmac(hash, key).update(covered).digest(), scheme.encoding))
  if (!scheme.hash) {
    return [
      ['an HMAC with the public key', mac(claim.secret)],
      ['an HMAC with the public key’s bytes', mac(Buffer.from(claim.secret, scheme.encoding))],
      ['an HMAC with an empty key', mac('')],
    ]
  }
  const isStandard = scheme.idHeader !== undefined
  const key = isStandard ? Buffer.from(claim.secret.slice('whsec_'.length), 'base64') : claim.secret
  const length = Buffer.from(base.signature, scheme.encoding).length
  const cut = createHmac('sha512', key).update(covered).digest().subarray(0, length)
  return [
    ['an empty secret', mac('')],
    ['a secret called undefined', mac('undefined')],
    ['the secret and a line feed', mac(`${claim.secret}\n`)],
    ['HMAC-SHA512', mac(key, 'sha512')],
    ['HMAC-SHA512, cut to length', withSignature(base, encode(cut, scheme.encoding))],
    ['the other SHA', mac(key, scheme.hash === 'sha1' ? 'sha256' : 'sha1')],
    ['HMAC-MD5', mac(key, 'md5')],
    [
      'a hash without a secret',
      withSignature(base, encode(createHash(scheme.hash).update(covered).digest(), scheme.encoding)),
    ],
    [
      'a hash of the secret and the text',
      withSignature(base, encode(createHash(scheme.hash).update(key).update(covered).digest(), scheme.encoding)),
    ],
    // `whsec_` means two things: a text to Stripe, base64 to Standard Webhooks
    ...(claim.secret.startsWith('whsec_')
      ? ([
          ['the secret without whsec_', mac(claim.secret.slice('whsec_'.length))],
          isStandard
            ? ['the secret as a text', mac(claim.secret)]
            : ['the secret decoded', mac(Buffer.from(claim.secret.slice('whsec_'.length), 'base64'))],
        ] satisfies Twin[])
      : []),
  ]
}

function prefixTwins(base: Base): Twin[] {
  const { scheme, signature } = base
  const { header, prefix } = scheme
  const value = scheme.headers(signature, base.claim)[header]!
  const put = (other: string) => withHeader(base, header, value.replace(prefix + signature, other + signature))
  const others = ['v0=', 'v1=', 'v2=', 'sha1=', 'sha256=', 'sha512=', 'v1a,', 'v2,', 'Basic ', 'Token ', 'Bearer ', '=']
  if (prefix === '') {
    const before = (text: string) => withHeader(base, header, text + value)
    return others.map((other) => [`${other} before it`, before(other)])
  }
  const twins: Twin[] = others.filter((other) => other !== prefix).map((other) => [`prefix ${other}`, put(other)])
  twins.push(['no prefix', put('')], ['the prefix twice', put(prefix + prefix)], ['junk before it', put(`x${prefix}`)])
  // the name of an authentication scheme has no case (RFC 9110)
  if (prefix !== 'Bearer ') twins.push(['the prefix in upper case', put(prefix.toUpperCase())])
  return twins
}

function headerTwins(base: Base): Twin[] {
  const { scheme, claim, signature, sender } = base
  const { header, timestampHeader } = scheme
  const value = scheme.headers(signature, claim)[header]!
  const other = signatureOf(scheme, { ...claim, secret: sender.otherSecret })
  const wrong = scheme.headers(other, claim)[header]!
  const rename = (from: string, to: string) => withHeaders(base, (name, text) => [[name === from ? to : name, text]])
  const twins: Twin[] = [
    ['no signature header', withHeader(base, header)],
    ['an empty signature header', withHeader(base, header, '')],
    ['a signature header of blanks', withHeader(base, header, '  ')],
    ['the signature in another header', rename(header, 'signature')],
    ['the signature in a header of a similar name', rename(header, `x-${header}`)],
    ['no header at all', { headers: [], body: claim.body }],
  ]
  // a list separated by blanks has no telling two headers from one
  if (!scheme.idHeader) {
    twins.push(
      ['the signature header twice', withHeader(base, header, value, value)],
      ['the signature header twice, the first one wrong', withHeader(base, header, wrong, value)],
      ['the signature header twice, the second one wrong', withHeader(base, header, value, wrong)],
    )
  }
  if (!timestampHeader) return twins
  const now = claim.timestamp
  return [
    ...twins,
    ['no time header', withHeader(base, timestampHeader)],
    ['no time header, and signed so', withoutHeader(withClaim(base, { timestamp: '' }), timestampHeader)],
    ['an empty time header', withHeader(base, timestampHeader, '')],
    ['the time header twice', withHeader(base, timestampHeader, now, now)],
    ['two times', withHeader(base, timestampHeader, now, String(Number(now) - 1))],
    ['the time in another header', rename(timestampHeader, 'date')],
  ]
}

const withoutHeader = ({ headers, ...delivery }: Delivery, header: string): Delivery => ({
  ...delivery,
  headers: headers.filter(([name]) => name !== header),
})

/** Each is signed as it is written: only the time is wrong. */
function timeTwins(base: Base): Twin[] {
  const now = Number(base.claim.timestamp)
  const times: [string, string][] = [
    ['301 seconds old', `${now - 301}`],
    // the clock may strike between signing and arriving
    ['301 seconds ahead, and some for the way', `${now + 330}`],
    ['a day old', `${now - 86_400}`],
    ['a day ahead', `${now + 86_400}`],
    ['milliseconds', `${now}000`],
    ['microseconds', `${now}000000`],
    ['a fraction', `${now}.5`],
    ['a fraction of nothing', `${now}.0`],
    ['a point', `${now}.`],
    ['a plus sign', `+${now}`],
    ['a minus sign', `-${now}`],
    ['hexadecimal', `0x${now.toString(16)}`],
    ['hexadecimal without a sign of it', now.toString(16)],
    ['octal', `0o${now.toString(8)}`],
    ['binary', `0b${now.toString(2)}`],
    ['Infinity', 'Infinity'],
    ['NaN', 'NaN'],
    ['an exponent', '1e9'],
    ['an exponent that is now', `${now / 1e9}e9`],
    ['an exponent beyond all times', '1e99'],
    ['separators', `${now}`.replace(/^(.)(...)(...)/, '$1_$2_$3_')],
    ['a letter after it', `${now}x`],
    ['a blank inside', `${now}`.replace(/^(....)/, '$1 ')],
    ['a big integer', `${now}n`],
    ['quotes', `"${now}"`],
    ['a date', new Date(now * 1000).toISOString()],
    ['zero', '0'],
    ['twenty digits', `${now}${now}`],
    ['no digits', 'now'],
    ['nothing', ''],
    ['null', 'null'],
  ]
  const shifted = (seconds: number) => ({
    ...base,
    claim: { ...base.claim, timestamp: String(now + seconds) },
  })
  return [
    ...times.map(([what, timestamp]): Twin => [`time: ${what}`, withClaim(base, { timestamp })]),
    ['time: a second after the signed one', withSignature(shifted(1), base.signature)],
    ['time: a second before the signed one', withSignature(shifted(-1), base.signature)],
    [
      'time: now, with a signature of an hour ago',
      withSignature(base, signatureOf(base.scheme, shifted(-3_600).claim)),
    ],
  ]
}

/** What is signed is the same text, cut elsewhere. */
function boundaryTwins(base: Base): Twin[] {
  const { scheme, claim } = base
  const shift = (what: string, signed: Partial<Claim>, sent: Partial<Claim>): Twin[] => {
    const from = { ...claim, ...signed }
    const to = { ...claim, ...sent }
    const covered = scheme.covered(from)
    if (!covered.equals(scheme.covered(to))) return []
    const headers = lines({ ...base.extra, ...scheme.headers(signatureOf(scheme, from), to) })
    return [[`boundary: ${what}`, { headers, body: to.body }]]
  }
  const { timestamp, body, id } = claim
  return [
    ...shift('a digit of the body in the time', { body: bytesOf('7', body) }, { timestamp: `${timestamp}7` }),
    ...shift('a brace of the body in the time', {}, { timestamp: `${timestamp}{`, body: body.subarray(1) }),
    ...shift('a bracket of the body in the time', {}, { timestamp: `${timestamp}[`, body: body.subarray(1) }),
    ...shift(
      'a digit of the time in the body',
      {},
      { timestamp: timestamp.slice(0, -1), body: bytesOf(timestamp.slice(-1), body) },
    ),
    ...shift('a fraction', { body: bytesOf('5.', body) }, { timestamp: `${timestamp}.5` }),
    ...shift('a word', { body: bytesOf('x:', body) }, { timestamp: `${timestamp}:x` }),
    ...shift('the time in the id', { body: bytesOf(`${timestamp}.`, body) }, { id: `${id}.${timestamp}`, timestamp }),
    ...shift('the whole time in the body', {}, { timestamp: '', body: bytesOf(timestamp, body) }),
  ]
}

function partsTwins(base: Base): Twin[] {
  const { scheme, claim, signature } = base
  const { header } = scheme
  const [t, v1, mark, otherMark] = scheme.prefix === 'h1=' ? ['ts', 'h1', ';', ','] : ['t', 'v1', ',', ';']
  const now = claim.timestamp
  const put = (value: string): Delivery => withHeader(base, header, value)
  const old = String(Number(now) - 1)
  return [
    ['no time', put(`${v1}=${signature}`)],
    ['an empty time', put(`${t}=${mark}${v1}=${signature}`)],
    ['no signature', put(`${t}=${now}`)],
    ['two times, the right one last', put(`${t}=${old}${mark}${t}=${now}${mark}${v1}=${signature}`)],
    ['two times, the right one first', put(`${t}=${now}${mark}${v1}=${signature}${mark}${t}=${old}`)],
    ['the time twice', put(`${t}=${now}${mark}${t}=${now}${mark}${v1}=${signature}`)],
    ['the time in upper case', put(`${t!.toUpperCase()}=${now}${mark}${v1}=${signature}`)],
    ['the other separator', put(`${t}=${now}${otherMark}${v1}=${signature}`)],
    ['blanks', put(`${t}=${now} ${v1}=${signature}`)],
    ['a blank in the time', put(`${t}= ${now}${mark}${v1}=${signature}`)],
    ['a blank before the equals sign', put(`${t}=${now}${mark}${v1} =${signature}`)],
    ['two equals signs', put(`${t}=${now}${mark}${v1}==${signature}`)],
    ['a colon', put(`${t}:${now}${mark}${v1}:${signature}`)],
    ['names of an object', put(`__proto__=1${mark}constructor=${signature}${mark}${t}=${now}`)],
  ]
}

/** Linear's: each is signed as it is sent, only the time in the body is wrong. */
function bodyTimeTwins(base: Base): Twin[] {
  const now = Date.now()
  const { webhookTimestamp: _, ...rest } = JSON.parse(Buffer.from(base.claim.body).toString())
  const of = (fields: object): Delivery => withClaim(base, { body: bytesOf(JSON.stringify({ ...rest, ...fields })) })
  const times: [string, unknown][] = [
    ['301 seconds old', now - 302_000],
    ['301 seconds ahead, and some for the way', now + 330_000],
    ['a day old', now - 86_400_000],
    ['in seconds', Math.floor(now / 1000)],
    ['in microseconds', now * 1000],
    ['a fraction', now + 0.5],
    ['in words', String(now)],
    ['a date', new Date(now).toISOString()],
    ['a list', [now]],
    ['null', null],
    ['beyond all times', 1e99],
    ['negative', -now],
  ]
  return [
    ...times.map(([what, webhookTimestamp]): Twin => [`time: ${what}`, of({ webhookTimestamp })]),
    ['no time', of({})],
    ['the time within', of({ data: { webhookTimestamp: now } })],
    ['the time in another case', of({ webhooktimestamp: now })],
    ['the time in a header alone', withHeaderAdded(of({}), 'linear-timestamp', String(now))],
    [
      'two times, the last one old',
      withClaim(base, {
        body: bytesOf(`{"type":"Issue","action":"create","webhookTimestamp":${now},"webhookTimestamp":1}`),
      }),
    ],
  ]
}

const withHeaderAdded = ({ headers, ...delivery }: Delivery, name: string, value: string): Delivery => ({
  ...delivery,
  headers: [...headers, [name, value]],
})

function standardTwins(base: Base): Twin[] {
  const { scheme, claim, signature, sender } = base
  const { timestamp, id, body } = claim
  const { header, idHeader = '', timestampHeader = '' } = scheme
  const put = (value: string): Delivery => withHeader(base, header, value)
  const own = header.slice(0, -'signature'.length)
  const other = own === 'svix-' ? 'webhook-' : 'svix-'
  const under = (...names: string[]) =>
    withHeaders(base, (name, value) => [[names.includes(name) ? name.replace(own, other) : name, value]])
  const isGitlab = sender.event === 'issue.open'
  return [
    ['a label alone', put('v1,')],
    ['v1a alone', put(`v1a,${signature}`)],
    ['the label in upper case', put(`V1,${signature}`)],
    ['an equals sign for the comma', put(`v1=${signature}`)],
    ['a colon for the comma', put(`v1:${signature}`)],
    ['a label without a comma', put(`v1${signature}`)],
    ['an empty label', put(`,${signature}`)],
    ['another id', withHeader(base, idHeader, 'msg_other')],
    ['no id', withHeader(base, idHeader)],
    ['no id, and signed so', withoutHeader(withClaim(base, { id: '' }), idHeader)],
    ['an empty id', withHeader(base, idHeader, '')],
    ['an empty id, and signed so', withClaim(base, { id: '' })],
    ['the id twice', withHeader(base, idHeader, id, id)],
    ['the id in upper case', withHeader(base, idHeader, id.toUpperCase())],
    ['an id with a dot, and signed so', withClaim(base, { id: 'msg.1' })],
    ['a signature without the id', put(`v1,${signatureOf(scheme, claim, Buffer.from(bytesOf(timestamp, '.', body)))}`)],
    ['the signature under the other prefix', under(header)],
    ['the id under the other prefix', under(idHeader)],
    ['the time under the other prefix', under(timestampHeader)],
    ['all but the signature under the other prefix', under(idHeader, timestampHeader)],
    // Gitlab sends under one prefix, and its plain header proves nothing where a signing token is set
    ...(isGitlab
      ? ([
          ['the headers of svix', under(header, idHeader, timestampHeader)],
          ['the secret in the header for plain ones', { headers: [['x-gitlab-token', claim.secret]], body }],
        ] satisfies Twin[])
      : []),
    [
      'only wrong ones',
      put(`v1,${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))} v1a,${signature} v2,${signature}`),
    ],
  ]
}

/** RFC 7515, and what its implementations were caught with. */
function tokenTwins(base: Base): Twin[] {
  const { claim, scheme } = base
  const { body, secret } = claim
  const now = Number(claim.timestamp)
  const right = claimsOf(body, now)
  const text = (value: string): Delivery => withHeader(base, 'authorization', value)
  const made = (claims: object, header?: object, hash = 'sha256', key: string | Buffer = secret) => {
    const covered = tokenText(claims, header)
    return `${covered}.${createHmac(hash, key).update(covered).digest('base64url')}`
  }
  const unsigned = (header: object) => `${tokenText(right, header)}.`
  const whole = made(right)
  const [head, payload, signature] = whole.split('.') as [string, string, string]
  const { sha256: _, ...hashless } = right
  const { exp: __, ...endless } = right
  const { nbf: ___, ...unbegun } = right
  const sha = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest()
  const hash = sha('sha256', body)
  const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const rsaText = tokenText(right, { alg: 'RS256' })
  return [
    ['alg none', text(unsigned({ alg: 'none' }))],
    ['alg None', text(unsigned({ alg: 'None' }))],
    ['alg none, with a signature', text(`${tokenText(right, { alg: 'none' })}.${signature}`)],
    ['alg none, signed', text(made(right, { alg: 'none' }))],
    ['alg HS512', text(made(right, { alg: 'HS512' }, 'sha512'))],
    ['alg HS384', text(made(right, { alg: 'HS384' }, 'sha384'))],
    ['alg HS512, signed as HS256', text(made(right, { alg: 'HS512' }))],
    ['alg hs256', text(made(right, { alg: 'hs256' }))],
    ['alg RS256', text(`${rsaText}.${createSign('sha256').update(rsaText).sign(rsa, 'base64url')}`)],
    ['alg RS256, signed as HS256', text(made(right, { alg: 'RS256' }))],
    ['no alg', text(made(right, { typ: 'JWT' }))],
    ['a list of algs', text(made(right, { alg: ['HS256'] }))],
    ['a key of its own', text(made(right, { alg: 'HS256', jwk: { kty: 'oct', k: 'b3RoZXI' } }, 'sha256', 'other'))],
    ['crit', text(made(right, { alg: 'HS256', crit: ['exp'] }))],
    ['crit of an unknown name', text(made(right, { alg: 'HS256', crit: ['x'], x: 1 }))],
    ['an unencoded payload', text(made(right, { alg: 'HS256', b64: false, crit: ['b64'] }))],
    ['a header that is no object', text(made(right, ['HS256']))],
    ['the hash of another body', text(made({ ...right, sha256: sha('sha256', bytesOf('x')).toString('base64') }))],
    ['the hash in hex', text(made({ ...right, sha256: hash.toString('hex') }))],
    ['the hash in base64url', text(made({ ...right, sha256: hash.toString('base64url') }))],
    ['a SHA-512 as the hash', text(made({ ...right, sha256: sha('sha512', body).toString('base64') }))],
    ['half of the hash', text(made({ ...right, sha256: hash.toString('base64').slice(0, 22) }))],
    ['an empty hash', text(made({ ...right, sha256: '' }))],
    ['a list of hashes', text(made({ ...right, sha256: [right.sha256] }))],
    ['no hash', text(made(hashless))],
    ['null for the hash', text(made({ ...right, sha256: null }))],
    ['expired', text(made({ ...right, exp: now - 60 }))],
    ['expired long ago', text(made({ ...right, exp: 1 }))],
    ['not yet valid', text(made({ ...right, nbf: now + 600, exp: now + 900 }))],
    ['begun 301 seconds ago, with hours to go', text(made({ ...right, nbf: now - 301, exp: now + 9_000 }))],
    ['issued 301 seconds ago, with hours to go', text(made({ ...unbegun, iat: now - 301, exp: now + 9_000 }))],
    ['hours to go, and no beginning', text(made({ ...unbegun, exp: now + 9_000 }))],
    // the SDK asks for one too
    ['no expiry', text(made(endless))],
    ['an expiry in words', text(made({ ...right, exp: String(right.exp) }))],
    ['null for the expiry', text(made({ ...right, exp: null }))],
    ['claims that are no object', text(made([right]))],
    ['an extra part', text(`${whole}.${signature}`)],
    ['an extra dot', text(`${whole}.`)],
    ['a dot before', text(`.${whole}`)],
    ['two parts', text(`${head}.${payload}`)],
    ['no header part', text(`.${payload}.${signature}`)],
    ['padding', text(`${whole}=`)],
    ['padding in its claims', text(`${head}.${payload}=.${signature}`)],
    ['claims of another token', text(`${head}.${made({ ...right, exp: now + 9_000 }).split('.')[1]}.${signature}`)],
    ['signed with another secret', text(made(right, undefined, 'sha256', base.sender.otherSecret))],
    ['signed with an empty secret', text(made(right, undefined, 'sha256', ''))],
    ['Bearer before it', text(`Bearer ${whole}`)],
    ['JSON instead of a token', text(JSON.stringify({ header: { alg: 'HS256' }, payload: right }))],
    ['a hash of the body as a token', text(encode(scheme.sign(body, secret), 'hex'))],
  ]
}

/** The order of the curve's group: S and S+L are one signature to who does not look. */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n

function ed25519Twins(base: Base): Twin[] {
  const bytes = Buffer.from(base.signature, 'hex')
  const [r, s] = [bytes.subarray(0, 32), bytes.subarray(32)]
  const put = (...parts: Uint8Array[]) => withSignature(base, encode(bytesOf(...parts), 'hex'))
  const s1 = BigInt(`0x${Buffer.from(s).reverse().toString('hex')}`)
  const scalar = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse()
  const identity = bytesOf(new Uint8Array([1]), new Uint8Array(31))
  const { privateKey: other } = generateKeyPairSync('ed25519')
  const covered = base.scheme.covered(base.claim)
  const prehashed = createHash('sha512').update(covered).digest()
  return [
    ['S + L', put(r, scalar(s1 + groupOrder))],
    ['S + 2L', put(r, scalar(s1 + 2n * groupOrder))],
    ['L − S', put(r, scalar(groupOrder - s1))],
    ['S of zero', put(r, new Uint8Array(32))],
    ['R of zero', put(new Uint8Array(32), s)],
    ['the identity as R, zero as S', put(identity, new Uint8Array(32))],
    ['the identity as R', put(identity, s)],
    ['R and S swapped', put(s, r)],
    ['R alone', put(r)],
    ['63 bytes', put(bytes.subarray(0, 63))],
    ['65 bytes', put(bytes, new Uint8Array(1))],
    ['65 bytes, a zero before', put(new Uint8Array(1), bytes)],
    ['the high bit of S', put(r, s.subarray(0, 31), new Uint8Array([s[31]! | 0x80]))],
    ['the sign of R', put(r.subarray(0, 31), new Uint8Array([r[31]! ^ 0x80]), s)],
    ['all bits', put(new Uint8Array(64).fill(0xff))],
    ['a fresh key', put(sign(null, covered, other))],
    ['of the text’s SHA-512', put(sign(null, prehashed, privateKey(base.claim.secret)))],
  ]
}

const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

const bytesOfNumber = (value: bigint) => {
  const hex = value.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
}

const block = (tag: number, content: Uint8Array) => bytesOf(new Uint8Array([tag, content.length]), content)

/** A DER integer: a zero before what would be negative. */
const integer = (value: bigint) => {
  const bytes = bytesOfNumber(value)
  return block(2, bytes[0]! & 0x80 ? bytesOf('\0', bytes) : bytes)
}

const der = (r: bigint, s: bigint) => block(0x30, bytesOf(integer(r), integer(s)))

function numbersOf(signature: Uint8Array): { r: bigint; s: bigint } {
  const bytes = Buffer.from(signature)
  const length = bytes[3]!
  const number = (part: Uint8Array) => BigInt(`0x${Buffer.from(part).toString('hex')}`)
  return { r: number(bytes.subarray(4, 4 + length)), s: number(bytes.subarray(6 + length)) }
}

function ecdsaTwins(base: Base): Twin[] {
  const isNegative = (value: bigint) => bytesOfNumber(value).length === 32 && bytesOfNumber(value)[0]! >= 0x80
  // r looks negative, s does not: both kinds of zero are at hand
  const { claim, signature } = searched(base, (text) => {
    const { r, s } = numbersOf(Buffer.from(text, 'base64'))
    return isNegative(r) && bytesOfNumber(s).length === 32 && !isNegative(s)
  })
  const from = { ...base, claim, signature }
  const right = Buffer.from(signature, 'base64')
  const { r, s } = numbersOf(right)
  const put = (bytes: Uint8Array) => withSignature(from, encode(bytes, 'base64'))
  const sequence = (...parts: Uint8Array[]) => put(block(0x30, bytesOf(...parts)))
  const content = right.subarray(2)
  const raw = new Uint8Array([0])
  const p1363 = Buffer.from(r.toString(16).padStart(64, '0') + s.toString(16).padStart(64, '0'), 'hex')
  const byte = (...values: number[]) => new Uint8Array(values)
  const { privateKey: other } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { privateKey: onSecp256k1 } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const covered = base.scheme.covered(claim)
  const own = privateKey(claim.secret)
  const again = createPrivateKey(own.export({ format: 'pem', type: 'sec1' }))
  const spare = 'x-spare-email-event-webhook'
  const { timestampHeader = '' } = base.scheme
  const beside = (header: string, value: string): Delivery => {
    const { headers, body } = withSignature(base, base.signature)
    return { headers: [...headers, [header, value]], body }
  }
  const renamed = (header: string, to: string) =>
    withHeaders(base, (name, value) => [[name === header ? to : name, value]])
  const isAnyName = !base.scheme.header.startsWith('x-twilio-')
  return [
    // of two, nobody knows which was meant; the provider's own name is the only one of its preset
    ...(isAnyName
      ? ([['a second header of that ending', beside(`${spare}-signature`, base.signature)]] satisfies Twin[])
      : []),
    ['the signature under another name than the time', renamed(base.scheme.header, `${spare}-signature`)],
    ['the time under another name than the signature', renamed(timestampHeader, `${spare}-timestamp`)],
    ['a byte after the sequence', put(bytesOf(right, raw))],
    ['a byte inside the sequence', sequence(content, raw)],
    ['a third integer', sequence(content, integer(1n))],
    ['a byte before the sequence', put(bytesOf(raw, right))],
    ['a sequence that promises more', put(bytesOf(byte(0x30, content.length + 1), content))],
    ['a sequence that promises less', put(bytesOf(byte(0x30, content.length - 1), content))],
    ['a long form of the sequence’s length', put(bytesOf(byte(0x30, 0x81, content.length), content))],
    ['a longer form of the sequence’s length', put(bytesOf(byte(0x30, 0x82, 0, content.length), content))],
    ['an indefinite length', put(bytesOf(byte(0x30, 0x80), content, byte(0, 0)))],
    ['a long form of an integer’s length', sequence(byte(0x02, 0x81, 33), integer(r).subarray(2), integer(s))],
    ['a negative r', sequence(block(2, bytesOfNumber(r)), integer(s))],
    ['a negative s', sequence(integer(r), block(2, bytesOfNumber(n - 1n)))],
    ['a zero too many before r', sequence(block(2, bytesOf('\0\0', bytesOfNumber(r))), integer(s))],
    ['a zero too many before s', sequence(integer(r), block(2, bytesOf('\0', bytesOfNumber(s))))],
    ['an r of zero', put(der(0n, s))],
    ['an s of zero', put(der(r, 0n))],
    ['r and s of zero', put(der(0n, 0n))],
    ['r and s of one', put(der(1n, 1n))],
    ['an r of n', put(der(n, s))],
    ['an s of n', put(der(r, n))],
    ['r + n', put(der(r + n, s))],
    ['s + n', put(der(r, s + n))],
    ['an empty r', sequence(block(2, byte()), integer(s))],
    ['an empty s', sequence(integer(r), block(2, byte()))],
    ['r alone', sequence(integer(r))],
    ['an empty sequence', put(byte(0x30, 0))],
    ['r and s swapped', put(der(s, r))],
    ['a set for the sequence', put(bytesOf(byte(0x31, content.length), content))],
    ['octets for r', sequence(block(4, integer(r).subarray(2)), integer(s))],
    ['r and s without DER', put(p1363)],
    ['r and s without DER, in hex', withSignature(from, p1363.toString('hex'))],
    ['of a fresh key', put(sign('sha256', covered, other))],
    ['of another curve', put(sign('sha256', covered, onSecp256k1))],
    ['of another hash', put(sign('sha512', covered, again))],
    ['of the text’s SHA-256', put(sign('sha256', createHash('sha256').update(covered).digest(), again))],
  ]
}

function formTwins(base: Base): Twin[] {
  const { claim, scheme } = base
  const { body, url } = claim
  const fields = [...new URLSearchParams(Buffer.from(body).toString())] as [string, string][]
  const sent = (...entries: [string, string][]) => sentAs(base, bytesOf(new URLSearchParams(entries).toString()))
  const [first, second, ...others] = fields as [[string, string], [string, string], ...[string, string][]]
  const json = bytesOf(JSON.stringify({ [first[0]]: first[1] }))
  const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
  const signedFor = (other: string, change: Partial<Delivery> = {}): Delivery => ({
    ...withClaim(base, { url: other }),
    ...change,
  })
  const hashed = `${url}?bodySHA256=${hash(json)}`
  const { origin } = new URL(url)
  return [
    ['a parameter changed', sent([first[0], `${first[1]}x`], second, ...others)],
    ['a parameter renamed', sent([`${first[0]}x`, first[1]], second, ...others)],
    ['a name in lower case', sent([first[0].toLowerCase(), first[1]], second, ...others)],
    ['two values swapped', sent([first[0], second[1]], [second[0], first[1]], ...others)],
    ['a parameter added', sent(...fields, ['ZZ', '1'])],
    ['an empty parameter added', sent(...fields, ['ZZ', ''])],
    ['a parameter removed', sent(second, ...others)],
    ['an empty parameter removed', sent(...fields.filter(([, value]) => value !== ''))],
    ['a second value of a parameter', sent(...fields, [first[0], 'other'])],
    ['a second value before it', sent([first[0], 'other'], ...fields)],
    ['%FF where U+FFFD was signed', sentAs(base, bytesOf(body, '&Raw=%FF'), bytesOf(body, '&Raw=%EF%BF%BD'))],
    ['%FE changed to %FF', sentAs(base, bytesOf(body, '&Raw=%FF'), bytesOf(body, '&Raw=%FE'))],
    [
      // both would be one value to who makes a text of the bytes that are none
      'a second value that is no text',
      sentAs(base, bytesOf(body, '&Raw=%FF&Raw=%F4%8F%BF%BF%C3%BF'), bytesOf(body, '&Raw=%F4%8F%BF%BF%C3%BF')),
    ],
    ['another host', signedFor(url.replace(origin, 'http://other.example'))],
    [
      'another host, that a header forwards',
      {
        headers: [
          ...signedFor(url.replace(origin, 'http://other.example')).headers,
          ['x-forwarded-host', 'other.example'],
        ],
        body,
      },
    ],
    ['another port', signedFor(url.replace(origin, `http://${new URL(url).hostname}:1`))],
    ['another path', signedFor(`${url}x`)],
    ['a slash after the path', signedFor(`${url}/`)],
    ['a query that did not come', signedFor(`${url}?a=1`)],
    ['a query that was not signed', signedFor(url, { query: '?a=1' })],
    ['another query', signedFor(`${url}?a=1`, { query: '?a=2' })],
    ['another order of the query', signedFor(`${url}?a=1&b=2`, { query: '?b=2&a=1' })],
    ['the URL alone', withSignature(base, signatureOf(scheme, claim, Buffer.from(url)))],
    ['the form alone', withSignature(base, signatureOf(scheme, { ...claim, url: '' }))],
    ['the body as it was sent', withSignature(base, signatureOf(scheme, claim, Buffer.from(bytesOf(url, body))))],
    [
      'the form in the order it was sent',
      withSignature(base, signatureOf(scheme, claim, Buffer.from(url + fields.reverse().flat().join('')))),
    ],
    [
      'JSON under a signature of the URL alone',
      { headers: asJson(withClaim(base, { body: bytesOf('') }).headers), body: json },
    ],
    ['bodySHA256 of another body', signedFor(hashed, { query: hashed.slice(url.length), body: bytesOf(json, ' ') })],
    [
      'bodySHA256 of another body, as JSON',
      {
        headers: asJson(signedFor(hashed).headers),
        query: hashed.slice(url.length),
        body: bytesOf('{"EventType":"other"}'),
      },
    ],
    [
      'bodySHA256 that was not signed',
      {
        headers: asJson(withSignature(base, base.signature).headers),
        query: hashed.slice(url.length),
        body: json,
      },
    ],
    ['bodySHA256 of nothing', signedFor(`${url}?bodySHA256=`, { query: '?bodySHA256=', body })],
  ]
}

const asJson = (headers: Delivery['headers']): Delivery['headers'] =>
  headers.map(([name, value]) => [name, name === 'content-type' ? 'application/json' : value])

/** Of what is legitimate, that which is no JSON: genuine, and yet no event can be read from its body. */
export const unreadable = ['a body that is no text', 'a byte order mark', 'an empty body']

/** All that is genuine. */
export async function legitimate(sender: Sender, url: string): Promise<Twin[]> {
  const base = await baseOf(sender, url)
  const { scheme, claim, extra } = base
  const { body } = claim
  const plain = withSignature(base, base.signature)
  const each = (change: (name: string, value: string) => [string, string]) =>
    withHeaders(base, (name, value) => [change(name, value)])
  const twins: Twin[] = [
    ['signed by node:crypto', plain],
    ['names in upper case', each((name, value) => [name.toUpperCase(), value])],
    ['names as titles', each((name, value) => [name.replaceAll(/\b[a-z]/g, (c) => c.toUpperCase()), value])],
    ['blanks after the values', each((name, value) => [name, `${value}  `])],
    ['a tab after the values', each((name, value) => [name, `${value}\t`])],
    ['blanks before the values', each((name, value) => [name, `   ${value}`])],
    ['other headers', { ...plain, headers: [['x-other', 'a=1'], ['cookie', 'v1=1'], ...plain.headers] }],
    ['no content type', withHeader(base, 'content-type')],
    ['the body in chunks', { ...plain, chunk: 7 }],
    ['a long body', withClaim(base, { body: bytesOf(body, ' '.repeat(200_000)) })],
  ]
  if (!isForm(sender)) {
    twins.push(
      ['a content type that says nothing', withHeader(base, 'content-type', 'application/octet-stream')],
      ['a body that is no text', withClaim(base, { body: new Uint8Array([0xfe, 0xff, 0, 0x80, 0x0d, 0x0a]) })],
      ['a byte order mark', withClaim(base, { body: bytesOf('\ufeff', body) })],
      ['CRLF', withClaim(base, { body: bytesOf(Buffer.from(body).toString().replaceAll('\n', '\r\n')) })],
      ['an empty body', withClaim(base, { body: new Uint8Array() })],
    )
  }
  if (scheme.isTimed) {
    const now = Number(claim.timestamp)
    for (const age of [-299, -1, 1, 290]) {
      twins.push([`${age} seconds old`, withClaim(base, { timestamp: String(now - age) })])
    }
  }
  return [...twins, ...ownLegitimate(base, extra)]
}

function ownLegitimate(base: Base, extra: Record<string, string>): Twin[] {
  const { scheme, claim, signature, sender } = base
  const { header, prefix } = scheme
  const { body, timestamp, secret } = claim
  const wrong = signatureOf(scheme, { ...claim, secret: sender.otherSecret })
  if (prefix === 'h1=') {
    const put = (value: string) => withHeader(base, header, value)
    return [
      ['several h1, the right one last', put(`ts=${timestamp};h1=${wrong};h1=${signature}`)],
      ['several h1, the right one first', put(`ts=${timestamp};h1=${signature};h1=${wrong}`)],
      ['another scheme beside it', put(`ts=${timestamp};h0=zzz;h1=${signature};h2=x`)],
      ['the time last', put(`h1=${signature};ts=${timestamp}`)],
    ]
  }
  if (header === 'linear-signature') {
    const sent = JSON.parse(Buffer.from(body).toString())
    return [-290_000, -1_000, 1_000, 290_000].map((age) => [
      `${age} milliseconds old, by its body`,
      withClaim(base, { body: bytesOf(JSON.stringify({ ...sent, webhookTimestamp: Date.now() - age })) }),
    ])
  }
  if (prefix === 'v1=') {
    const put = (value: string) => withHeader(base, header, value)
    return [
      ['several v1, the right one last', put(`t=${timestamp},v1=${wrong},v1=${signature}`)],
      ['several v1, the right one first', put(`t=${timestamp},v1=${signature},v1=${wrong}`)],
      ['another scheme beside it', put(`t=${timestamp},v0=zzz,v1=${signature},v2=x`)],
      ['the time last', put(`v1=${signature},t=${timestamp}`)],
    ]
  }
  if (scheme.idHeader) {
    const put = (value: string) => withHeader(base, header, value)
    return [
      ['several, the right one last', put(`v1,${wrong} v1,${signature}`)],
      ['several, the right one first', put(`v1,${signature} v1,${wrong}`)],
      ['v1a beside it', put(`v1a,${signature}${signature} v1,${signature}`)],
      ['an unknown version beside it', put(`v1,${signature} v9,zzz`)],
      ['another id', withClaim(base, { id: 'a-B_9' })],
    ]
  }
  if (scheme.encoding === 'base64url') {
    const text = (claims: object, joseHeader?: object) => {
      const covered = tokenText(claims, joseHeader)
      return withHeader(
        base,
        'authorization',
        `${covered}.${encode(scheme.sign(Buffer.from(covered), secret), 'base64url')}`,
      )
    }
    const right = claimsOf(body, Number(timestamp))
    const { nbf: _, ...unbound } = right
    return [
      ['a type in its header', text(right, { alg: 'HS256', typ: 'JWT' })],
      ['a type before the algorithm', text(right, { typ: 'JWT', alg: 'HS256' })],
      ['no beginning', text(unbound)],
      ['other claims', text({ ...right, sub: 'x', video: { room: 'r' }, name: 'Zażółć' })],
      ['begun a minute ago', text({ ...right, nbf: right.nbf - 60 })],
      ['issued now', text({ ...right, iat: right.nbf })],
    ]
  }
  if (header.endsWith('email-event-webhook-signature')) {
    const of = (bytes: Uint8Array) => withSignature(base, encode(bytes, 'base64'))
    const { r, s } = numbersOf(Buffer.from(signature, 'base64'))
    const length = (isWanted: (r: number, s: number) => boolean) => {
      const found = searched(base, (text) => {
        const numbers = numbersOf(Buffer.from(text, 'base64'))
        return isWanted(integer(numbers.r).length - 2, integer(numbers.s).length - 2)
      })
      return withSignature(found, found.signature)
    }
    const vendors: Twin[] = ['x-twilio-email-event-webhook', 'x-Post-email-event-webhook'].map((name) => [
      `under the name ${name}`,
      withHeaders(base, (own, value) => [[own.replace(/^x-emailservice-email-event-webhook/, name), value]]),
    ])
    return [
      ...(header.startsWith('x-emailservice-') ? vendors : []),
      ['one s', of(der(r, s))],
      ['the other s', of(der(r, n - s))],
      ['an r of 31 bytes', length((r) => r === 31)],
      ['an s of 31 bytes', length((_r, s) => s === 31)],
      ['r and s of 33 bytes', length((r, s) => r === 33 && s === 33)],
      ['r and s of 32 bytes', length((r, s) => r === 32 && s === 32)],
    ]
  }
  return isForm(sender) ? formLegitimate(base, extra) : []
}

function formLegitimate(base: Base, extra: Record<string, string>): Twin[] {
  const { claim, scheme } = base
  const { body, url } = claim
  const text = Buffer.from(body).toString()
  const pairs = text.split('&')
  const at = (query: string): Delivery => ({ ...withClaim(base, { url: url + query }), query })
  const of = (form: string) => withClaim(base, { body: bytesOf(form) })
  const { protocol, hostname, pathname } = new URL(url)
  const twins: Twin[] = [
    ['another order of the parameters', sentAs(base, bytesOf([...pairs].reverse().join('&')))],
    ['%20 for blanks', sentAs(base, bytesOf(text.replaceAll('+', '%20')))],
    [
      'escapes in lower case',
      sentAs(base, bytesOf(text.replaceAll(/%[0-9A-F]{2}/g, (byte: string) => byte.toLowerCase()))),
    ],
    ['bytes for escapes', sentAs(base, bytesOf(text.replaceAll('%C5%BC', 'ż').replaceAll('%F0%9F%9A%80', '🚀')))],
    ['repeated parameters', of(`${text}&MediaUrl=b&MediaUrl=a&MediaUrl=b`)],
    ['names that differ in case', of(`${text}&a=1&B=2&b=3&A=4`)],
    ['names of an object', of(`${text}&__proto__=1&constructor=2`)],
    ['a query', at('?foo=1&bar=2')],
    ['an apostrophe in the query', at("?who=O'Brien")],
    ['an apostrophe and its escape', at("?who=O'Brien&else=O%27Brien")],
    ['escapes in the query', at('?x=%C5%BC%20+%2f')],
    ['an empty query', at('?')],
    ['signed without the port', withClaim(base, { url: `${protocol}//${hostname}${pathname}` })],
  ]
  if (scheme.header !== 'x-twilio-signature') return twins
  // only the provider's own preset has callbacks in JSON
  const json = bytesOf(JSON.stringify({ MessageStatus: 'delivered', text: 'ż' }))
  const query = `?a=1&bodySHA256=${createHash('sha256').update(json).digest('hex')}`
  const headers = lines({
    ...extra,
    'content-type': 'application/json',
    ...forge(scheme, { ...claim, url: url + query }),
  })
  return [...twins, ['JSON, whose hash is in the URL', { headers, body: json, query }]]
}

/** Signed as if at that time. */
export async function timed(sender: Sender, url: string, timestamp: number): Promise<Delivery> {
  const base = await baseOf(sender, url)
  if (base.scheme.header !== 'linear-signature') return withClaim(base, { timestamp: String(timestamp) })
  const sent = JSON.parse(Buffer.from(base.claim.body).toString())
  return withClaim(base, { body: bytesOf(JSON.stringify({ ...sent, webhookTimestamp: timestamp * 1000 })) })
}
