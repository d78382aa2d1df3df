/** Hostile variants of the signature: its text, what it covers, its encoding, its key and its prefix. */
import { createHash, createHmac } from 'node:crypto'
import { type Encoding, encode } from '../schemes.ts'
import { type Base, bytesOf, search, signatureOf, type Variant, withHeader, withSignature } from './base.ts'

/** Another text of the signature, or a signature of other bytes. */
export function hostileSignatures(base: Base): Variant[] {
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
    ...texts.map(([what, text]): Variant => [what, withSignature(base, text)]),
    ...otherwise
      .filter(([, covered]) => !right.equals(covered))
      .map(
        ([what, covered]): Variant => [
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

/** The right bytes in another spelling: a signature has exactly one. */
export function hostileEncodings(base: Base): Variant[] {
  const { encoding } = base.scheme
  const other = (what: string, from: Base, to: Encoding): Variant => {
    const bytes = Buffer.from(from.signature, encoding)
    return [`${to} instead of ${encoding}${what}`, withSignature(from, encode(bytes, to))]
  }
  if (encoding === 'hex') {
    const zero = search(base, (signature) => /^(..)*?00/.test(signature))
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
  // This signature has letters that the two alphabets do not share, and in base64 some padding.
  const told = search(base, (signature) => /[-_+/]/.test(signature) && (isUrl || signature.endsWith('=')))
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
        ] satisfies Variant[])
      : ([
          ['without padding', withSignature(told, signature.replace(/=+$/, ''))],
          ['the alphabet of base64url', withSignature(told, signature.replaceAll('+', '-').replaceAll('/', '_'))],
          other(', padding and all', told, 'base64url'),
          ['percent-encoded', withSignature(told, encodeURIComponent(signature))],
        ] satisfies Variant[])),
  ]
}

/** The right text under another key or another hash. */
export function hostileKeys(base: Base): Variant[] {
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
    // After `whsec_`, Stripe's secret is a text, and that of Standard Webhooks is base64.
    ...(claim.secret.startsWith('whsec_')
      ? ([
          ['the secret without whsec_', mac(claim.secret.slice('whsec_'.length))],
          isStandard
            ? ['the secret as a text', mac(claim.secret)]
            : ['the secret decoded', mac(Buffer.from(claim.secret.slice('whsec_'.length), 'base64'))],
        ] satisfies Variant[])
      : []),
  ]
}

export function hostilePrefixes(base: Base): Variant[] {
  const { scheme, signature } = base
  const { header, prefix } = scheme
  const value = scheme.headers(signature, base.claim)[header]!
  const put = (other: string) => withHeader(base, header, value.replace(prefix + signature, other + signature))
  const others = ['v0=', 'v1=', 'v2=', 'sha1=', 'sha256=', 'sha512=', 'v1a,', 'v2,', 'Basic ', 'Token ', 'Bearer ', '=']
  if (prefix === '') {
    const before = (text: string) => withHeader(base, header, text + value)
    return others.map((other) => [`${other} before it`, before(other)])
  }
  const variants: Variant[] = others.filter((other) => other !== prefix).map((other) => [`prefix ${other}`, put(other)])
  variants.push(
    ['no prefix', put('')],
    ['the prefix twice', put(prefix + prefix)],
    ['junk before it', put(`x${prefix}`)],
  )
  // The name of an authentication scheme is case-insensitive (RFC 9110).
  if (prefix !== 'Bearer ') variants.push(['the prefix in upper case', put(prefix.toUpperCase())])
  return variants
}
