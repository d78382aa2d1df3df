/**
 * Access tokens as attackers, careless issuers and broken libraries make them, by class, each class with its nearest twins
 * that are genuine (contract 3.1 to 3.4, RFC 7515, RFC 7519, RFC 8725). Every name is one request.
 */
import {
  constants,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  KeyObject,
  randomBytes,
  sign,
  type webcrypto,
} from 'node:crypto'
import { createIssuer, type Issuer } from './tokens.ts'

/** The header lines of a request, byte for byte. */
export type Lines = (readonly [name: string, value: string])[]
type Refused = readonly [name: string, lines: Lines]
/** With whom `OptionalUser()` must receive. */
type Accepted = readonly [name: string, sent: { lines: Lines; id: string }]

interface TokenClass {
  name: string
  accepted: Accepted[]
  refused: Refused[]
}

interface Hostile {
  /** What the key set's address answers: these tokens' keys, among junk. */
  keySet: string
  classes: TokenClass[]
  /** Genuine, and of an anonymous session (3.4). */
  anonymous: string
  /** Signed by the first key, with these claims in the place of others. */
  token(claims: Record<string, unknown>): string
}

interface Span {
  issuer: string
  audience: string
  /** Where an attacker's key set is; nobody may ask for it. */
  attacker: string
}

type Json = Record<string, unknown>

const kid = 'key-1'
const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const longestHeader = 8 * 1024

const encode = (value: string | Uint8Array) => Buffer.from(value).toString('base64url')
/** Text stands for itself: JSON that no library writes. */
const part = (value: unknown) =>
  encode(typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value))
const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
const bytesOf = (number: bigint) => Buffer.from(number.toString(16).padStart(64, '0'), 'hex')
const lines = (authorization: string): Lines => [['authorization', authorization]]
const bearer = (token: string) => lines(`Bearer ${token}`)
const ecdsa = (text: string, key: KeyObject, hash = 'sha256') =>
  sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })

export async function hostileTokens({ issuer: iss, audience: aud, attacker }: Span): Promise<Hostile> {
  const now = Math.floor(Date.now() / 1000)
  const owner = await createIssuer(kid)
  const key = privateOf(owner)
  const claims: Json = { sub: 'usr_1', iss, aud, iat: now, exp: now + 900 }
  const header: Json = { alg: 'ES256', kid }

  /** Three parts as given, under a signature that fits them. */
  const sealed = (head: string, body: string, by = key) => `${head}.${body}.${encode(ecdsa(`${head}.${body}`, by))}`
  /** Genuine but for what is changed; text in the place of either part stands for itself. */
  const make = (head: Json | string | Uint8Array = {}, body: Json | string | Uint8Array = {}, by = key) => {
    const merged = (value: Json | string | Uint8Array, base: Json) =>
      typeof value === 'string' || value instanceof Uint8Array ? value : { ...base, ...value }
    return sealed(part(merged(head, header)), part(merged(body, claims)), by)
  }
  const accept = (name: string, token: string, id = 'usr_1'): Accepted => [name, { lines: bearer(token), id }]
  const refuse = (name: string, token: string): Refused => [name, bearer(token)]
  const genuine = make()
  const [head, body, seal] = genuine.split('.') as [string, string, string]
  const unsigned = `${part(header)}.${part(claims)}`

  // keys beside the first one: `sealedBy` signs as their owners would
  const [second, bare, firstTwin, secondTwin, stranger] = (await Promise.all(
    ['key-2', '', 'twin', 'twin', 'attacker'].map((name) => createIssuer(name)),
  )) as [Issuer, Issuer, Issuer, Issuer, Issuer]
  const pair = (curve: string) => generateKeyPairSync('ec', { namedCurve: curve })
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const ed25519 = generateKeyPairSync('ed25519')
  const [p384, p521, secp256k1] = [pair('P-384'), pair('P-521'), pair('secp256k1')]
  const secret = randomBytes(64)
  const strangerKey = privateOf(stranger)
  const jwkOf = (of: KeyObject): JsonWebKey => of.export({ format: 'jwk' })
  const withoutKid = ({ kid: _, ...jwk }: Json) => jwk

  return {
    keySet: keySet(),
    anonymous: make({}, { role: 'anon' }),
    token: (changed) => make({}, changed),
    classes: [
      algorithms(),
      keyedHashes(),
      foreignAlgorithms(),
      embeddedKeys(),
      kids(),
      criticalHeaders(),
      types(),
      encodings(),
      json(),
      curve(),
      signatures(),
      times(),
      parties(),
      subjects(),
      roles(),
      unstorable(),
      prototypes(),
      authorizationHeaders(),
      elsewhere(),
      keys(),
    ],
  }

  function algorithms(): TokenClass {
    const nones = ['n', 'N'].flatMap((a) =>
      ['o', 'O'].flatMap((b) => ['n', 'N'].flatMap((c) => ['e', 'E'].map((d) => a + b + c + d))),
    )
    const spelled = [
      'es256',
      'Es256',
      'eS256',
      ' ES256',
      'ES256 ',
      'ES256\0',
      'ＥＳ256',
      'ES-256',
      'ES 256',
      'ES2 56',
      'EC256',
      'ES0256',
      '',
    ]
    const others = [
      'ES384',
      'ES512',
      'ES256K',
      'HS256',
      'HS384',
      'HS512',
      'RS256',
      'PS256',
      'EdDSA',
      'Ed25519',
      'ESP256',
      'ECDH-ES',
      'dir',
      'ML-DSA-44',
    ]
    const valued: unknown[] = [256, null, true, ['ES256'], { alg: 'ES256' }, ['ES256', 'none'], 0]
    return {
      name: 'alg',
      accepted: [
        accept('ES256', genuine),
        accept('alg twice, ES256 last', make(`{"alg":"none","kid":"${kid}","alg":"ES256"}`)),
      ],
      refused: [
        ...nones.flatMap((alg) => [
          refuse(`${alg}, no signature`, `${part({ alg, kid })}.${body}.`),
          refuse(`${alg}, a right signature`, make({ alg })),
          refuse(`${alg}, a zero for the signature`, `${part({ alg, kid })}.${body}.AA`),
        ]),
        ...spelled.map((alg) => refuse(`${JSON.stringify(alg)}, a right signature`, make({ alg }))),
        ...others.map((alg) => refuse(`${alg} over a signature of ES256`, make({ alg }))),
        ...valued.map((alg) => refuse(`${JSON.stringify(alg)} for the algorithm`, make({ alg }))),
        refuse('no algorithm', make({ alg: undefined })),
        refuse('the algorithm under another name', make({ alg: undefined, Alg: 'ES256', ALG: 'ES256' })),
        refuse('alg twice, none last', make(`{"alg":"ES256","kid":"${kid}","alg":"none"}`)),
        refuse('the algorithm among the claims', make({ alg: undefined }, { alg: 'ES256' })),
      ],
    }
  }

  /** The public key taken for a shared secret, in every form that libraries load one from. */
  function keyedHashes(): TokenClass {
    const publicKey = createPublicKey(key)
    const jwk = jwkOf(publicKey)
    const der = publicKey.export({ format: 'der', type: 'spki' })
    const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string
    const [x, y] = [Buffer.from(jwk.x!, 'base64url'), Buffer.from(jwk.y!, 'base64url')]
    const point = Buffer.concat([Buffer.from([4]), x, y])
    const forms: [string, string | Buffer][] = [
      ['its entry of the key set', JSON.stringify(owner.jwk)],
      ['the whole key set', keySet()],
      ['its canonical JWK', JSON.stringify({ crv: 'P-256', kty: 'EC', x: jwk.x, y: jwk.y })],
      ['its PEM', pem],
      ['its PEM without the last newline', pem.trimEnd()],
      ['its PEM in one line', pem.replaceAll('\n', '')],
      ['its DER', der],
      ['its DER in base64', der.toString('base64')],
      ['its point', point],
      ['its point in hex', point.toString('hex')],
      ['its compressed point', Buffer.concat([Buffer.from([2 + (y.at(-1)! & 1)]), x])],
      ['its x', x],
      ['its x in base64url', jwk.x!],
      ['x and y', Buffer.concat([x, y])],
      ['its kid', kid],
      ['nothing', ''],
    ]
    const hmac = (bits: number, head: string, secret: string | Buffer) =>
      `${head}.${body}.${createHmac(`sha${bits}`, secret).update(`${head}.${body}`).digest('base64url')}`
    return {
      name: 'HMAC keyed with what is public',
      accepted: [accept('the same two parts, signed', sealed(part(header), body))],
      refused: [256, 384, 512].flatMap((bits) =>
        forms.flatMap(([form, secret]) => [
          refuse(`HS${bits} with ${form}`, hmac(bits, part({ alg: `HS${bits}`, kid }), secret)),
          // HS512 is as long as a signature of ES256
          refuse(`HS${bits} with ${form}, as ES256`, hmac(bits, part(header), secret)),
        ]),
      ),
    }
  }

  /** Right signatures of other algorithms, by keys that the key set does hold. */
  function foreignAlgorithms(): TokenClass {
    const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    const makers: [string, string, (text: Buffer) => Buffer][] = [
      ...['256', '384', '512'].flatMap((bits): [string, string, (text: Buffer) => Buffer][] => [
        [`RS${bits}`, 'rsa', (text) => sign(`sha${bits}`, text, rsa.privateKey)],
        [`PS${bits}`, 'rsa', (text) => sign(`sha${bits}`, text, { key: rsa.privateKey, ...pss })],
        [`HS${bits}`, 'oct', (text) => createHmac(`sha${bits}`, secret).update(text).digest()],
      ]),
      ['EdDSA', 'ed25519', (text) => sign(null, text, ed25519.privateKey)],
      ['Ed25519', 'ed25519', (text) => sign(null, text, ed25519.privateKey)],
      ['ES384', 'p384', (text) => ecdsa(text.toString(), p384.privateKey, 'sha384')],
      ['ES512', 'p521', (text) => ecdsa(text.toString(), p521.privateKey, 'sha512')],
      ['ES256K', 'secp256k1', (text) => ecdsa(text.toString(), secp256k1.privateKey)],
    ]
    const signed = (head: Json, by: (text: Buffer) => Buffer) => {
      const text = `${part(head)}.${body}`
      return `${text}.${encode(by(Buffer.from(text)))}`
    }
    return {
      name: 'other algorithms, whose keys are in the set',
      accepted: [accept('ES256, whose key is beside them', make({ kid: 'key-2' }, {}, privateOf(second)))],
      refused: makers.flatMap(([alg, kid, by]) => [
        refuse(alg, signed({ alg, kid }, by)),
        refuse(`${alg}, as ES256`, signed({ alg: 'ES256', kid }, by)),
        refuse(`${alg}, as ES256 without a kid`, signed({ alg: 'ES256' }, by)),
        refuse(`${alg}, under the kid of another key`, signed({ alg, kid: 'key-1' }, by)),
      ]),
    }
  }

  function embeddedKeys(): TokenClass {
    const jwk = withoutKid({ ...stranger.jwk })
    const x5c = [createPublicKey(strangerKey).export({ format: 'der', type: 'spki' }).toString('base64')]
    const carried: [string, Json][] = [
      ['jwk', { jwk }],
      ['jwk with the kid of a known key', { jwk: { ...jwk, kid } }],
      ['jwk with a private member', { jwk: jwkOf(strangerKey) }],
      ['a list of jwk', { jwk: [jwk] }],
      ['jwks', { jwks: { keys: [jwk] } }],
      ['jku', { jku: attacker }],
      ['jku with credentials in it', { jku: attacker.replace('//', `//${new URL(iss).host}@`) }],
      ['x5u', { x5u: attacker }],
      ['x5c', { x5c }],
      ['x5c and x5t', { x5c, x5t: encode('x'), 'x5t#S256': encode('y') }],
      ['url and iss', { url: attacker, iss: attacker }],
      ['epk', { epk: jwk }],
    ]
    return {
      name: 'keys that a token brings along',
      // a key set is the environment's: what else a header says of keys is read by nobody
      accepted: [
        accept('jwk of a stranger under a right signature', make({ jwk })),
        accept('jku and x5u under a right signature', make({ jku: attacker, x5u: attacker })),
        accept('x5c under a right signature', make({ x5c: 'not even a list' })),
      ],
      refused: carried.flatMap(([what, more]) => [
        refuse(`${what}, under a known kid`, make(more, {}, strangerKey)),
        refuse(`${what}, under its own kid`, make({ ...more, kid: 'attacker' }, {}, strangerKey)),
        refuse(`${what}, without a kid`, make({ ...more, kid: undefined }, {}, strangerKey)),
      ]),
    }
  }

  function kids(): TokenClass {
    const unknown: [string, unknown][] = [
      ['a path', '../../../../../../dev/null'],
      ['a path in percents', '..%2f..%2fkey-1'],
      ['a file', 'file:///etc/passwd'],
      ['a URL', attacker],
      ['SQL', "key-1' union select 'x' --"],
      ['a command', 'key-1; cat /etc/passwd'],
      ['a template', '{{7*7}}#{7*7}'],
      ['lines of a log', 'key-1\r\n{"level":"error","message":"forged"}\u001b[2J'],
      ['NUL', 'key-1\0'],
      ['NUL first', '\0key-1'],
      ['a blank after it', 'key-1 '],
      ['a blank before it', ' key-1'],
      ['upper case', 'KEY-1'],
      ['a zero-width space', 'key-1\u200b'],
      ['a look-alike', 'kеy-1'],
      ['half a surrogate pair', 'key-1\ud800'],
      ['an empty kid', ''],
      ['4000 characters', 'k'.repeat(4000)],
      ['the kid twice', 'key-1key-1'],
      ['a list in text', '["key-1"]'],
      ['a number', 1],
      ['zero', 0],
      ['true', true],
      ['nothing', null],
      ['a list', ['key-1']],
      ['an object', { kid: 'key-1' }],
      ['the kid of another key', 'key-2'],
      ['the kid of two other keys', 'twin'],
      ['the kid of an RSA key', 'rsa'],
      ['the kid of a symmetric key', 'oct'],
      ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '0', 'undefined', 'null'].map(
        (name): [string, unknown] => [name, name],
      ),
    ]
    return {
      name: 'kid',
      accepted: [
        accept('no kid: every key is tried', make({ kid: undefined })),
        accept('another key’s kid', make({ kid: 'key-2' }, {}, privateOf(second))),
        accept('the first of two keys of one kid', make({ kid: 'twin' }, {}, privateOf(firstTwin))),
        accept('the second of two keys of one kid', make({ kid: 'twin' }, {}, privateOf(secondTwin))),
        accept('no kid in the token nor in the key', make({ kid: undefined }, {}, privateOf(bare))),
        ...strangeKids.map((kid) => accept(`${JSON.stringify(kid)}, which is in the set`, make({ kid }))),
      ],
      refused: [
        ...unknown.map(([what, kid]) => refuse(`${what} as kid`, make({ kid }))),
        refuse('a key without a kid, under some kid', make({ kid: 'other' }, {}, privateOf(bare))),
        refuse('a key of a kid that is a number, under that number as text', make({ kid: '7' })),
        refuse('kid twice, the unknown one last', make(`{"alg":"ES256","kid":"${kid}","kid":"other"}`)),
        refuse('the kid of a key whose other is right', make({ kid: 'key-1' }, {}, privateOf(second))),
      ],
    }
  }

  function criticalHeaders(): TokenClass {
    const crits: unknown[] = [
      [],
      ['exp'],
      ['b64'],
      ['alg'],
      ['crit'],
      ['unknown'],
      [''],
      [1],
      [null],
      'b64',
      '',
      {},
      null,
      true,
      false,
      0,
      ['__proto__'],
    ]
    const b64s: unknown[] = [true, false, null, 'false', '', 0, 1, []]
    const detached = `${part({ ...header, b64: false, crit: ['b64'] })}.`
    const plain = JSON.stringify(claims)
    return {
      name: 'crit and b64',
      accepted: [
        accept('crit in another case', make({ Crit: ['b64'], CRIT: ['exp'], B64: false })),
        accept('crit and b64 among the claims', make({}, { crit: ['b64'], b64: false })),
        accept('a parameter that nobody knows', make({ 'https://example.com/ext': true, exp: 1 })),
      ],
      refused: [
        ...crits.map((crit) => refuse(`crit ${JSON.stringify(crit)}`, make({ crit }))),
        ...crits
          .slice(0, 6)
          .map((crit) =>
            refuse(`crit ${JSON.stringify(crit)}, all of it there`, make({ crit, b64: true, exp: 1, unknown: 1 })),
          ),
        ...b64s.map((b64) => refuse(`b64 ${JSON.stringify(b64)}`, make({ b64 }))),
        refuse('crit twice, an empty one last', make(`{"alg":"ES256","kid":"${kid}","crit":["b64"],"crit":[]}`)),
        refuse('a payload that is not encoded', `${detached}${plain}.${encode(ecdsa(detached + plain, key))}`),
        refuse(
          'a payload that is encoded and signed as it stands',
          `${detached}${part(claims)}.${encode(ecdsa(detached + plain, key))}`,
        ),
        refuse('a payload that is not there', `${detached}.${encode(ecdsa(detached + plain, key))}`),
      ],
    }
  }

  function types(): TokenClass {
    const right = [
      'JWT',
      'jwt',
      'Jwt',
      'at+jwt',
      'AT+JWT',
      'at+JWT',
      'application/at+jwt',
      'Application/AT+jwt',
      'application/jwt',
    ]
    const wrong: unknown[] = [
      ...[
        'dpop+jwt',
        'id_token',
        'ID',
        'JWS',
        'JOSE',
        'JOSE+JSON',
        'jwt+at',
        'rt+jwt',
        'refresh+jwt',
        'secevent+jwt',
        'logout+jwt',
        'kb+jwt',
      ],
      ...[
        'entity-statement+jwt',
        'oauth-authz-req+jwt',
        'token-introspection+jwt',
        'vc+sd-jwt',
        'at+at+jwt',
        'at jwt',
        'at+',
        '+jwt',
        'a+jwt',
      ],
      ...[
        'JWT ',
        ' JWT',
        'JWT\n',
        '\nJWT',
        'JWT\0',
        'at+jwt;x=1',
        '',
        'undefined',
        'application/',
        'application/json',
        'application/application/jwt',
      ],
      ...['text/jwt', '/jwt', 'xJWT', 'JWTx', 'ＪＷＴ', 1, 0, true, null, ['JWT'], {}, ['at+jwt', 'JWT']],
    ]
    return {
      name: 'typ',
      accepted: [
        accept('no typ', genuine),
        ...right.map((typ) => accept(`typ ${typ}`, make({ typ }))),
        accept('typ in another case', make({ TYP: 'dpop+jwt' })),
        accept('cty', make({ cty: 'JWT' })),
      ],
      refused: [
        ...wrong.map((typ) => refuse(`typ ${JSON.stringify(typ)}`, make({ typ }))),
        refuse('typ twice, a wrong one last', make(`{"alg":"ES256","kid":"${kid}","typ":"JWT","typ":"dpop+jwt"}`)),
      ],
    }
  }

  /** What is not base64url, signed as it stands: a decoder that repairs would find it genuine. */
  function encodings(): TokenClass {
    // every length modulo 3 and both special characters, so that each repair has a part to work on
    const one = part({ ...header, pad: '??>>~~' })
    const whole = [one, part({ ...claims, pad: '??>>~~' })] as const
    const [first, , third] = genuine.split('.') as [string, string, string]
    const at = (text: string, inside: string) => text.slice(0, 9) + inside + text.slice(9)
    const repairs: [string, (text: string) => string][] = [
      ['=', (text) => `${text}=`],
      ['==', (text) => `${text}==`],
      ['right padding', (text) => text + '='.repeat((4 - (text.length % 4)) % 4 || 4)],
      ['= inside', (text) => at(text, '=')],
      ['%3D', (text) => `${text}%3D`],
      ['a blank inside', (text) => at(text, ' ')],
      ['a no-break space before', (text) => `\xa0${text}`],
      ['a blank and a letter after', (text) => `${text} A`],
      ['a tab inside', (text) => at(text, '\t')],
      ['a folded line inside', (text) => at(text, '\r\n ')],
      ['an escaped newline inside', (text) => at(text, '\\n')],
      ['%0A inside', (text) => at(text, '%0A')],
      ['a byte of 255 inside', (text) => at(text, '\xff')],
      ['a no-break space inside', (text) => at(text, '\xa0')],
      ['a form feed inside', (text) => at(text, '\f')],
      ['DEL inside', (text) => at(text, '\x7f')],
      ['a tilde inside', (text) => at(text, '~')],
      ['an asterisk inside', (text) => at(text, '*')],
      ['a comma inside', (text) => at(text, ',')],
      ['a quote inside', (text) => at(text, '"')],
      ['+ inside', (text) => at(text, '+')],
      ['/ inside', (text) => at(text, '/')],
      ['quotes around it', (text) => `"${text}"`],
      ['a byte order mark before it', (text) => `\xef\xbb\xbf${text}`],
      ['one more character', (text) => `${text}A`],
      ['four more characters', (text) => `${text}AAAA`],
      ['other trailing bits', otherBits],
    ]
    const signed = whole.join('.')
    const found = searched(
      () => ecdsa(signed, key),
      (bytes) => /[-_]/.test(encode(bytes)),
    )
    const standard = (text: string) => Buffer.from(text, 'base64url').toString('base64').replace(/=+$/, '')
    const standardHead = standard(whole[0])
    const standardBody = standard(whole[1])
    const parts: [string, string][] = [
      ['no header', `.${body}.${seal}`],
      ['no payload', `${first}..${third}`],
      ['no signature', `${first}.${body}.`],
      ['nothing but dots', '..'],
      ['a dot', '.'],
      ['nothing but a signature', `..${third}`],
      ['one part', first],
      ['two parts', `${first}.${body}`],
      ['four parts', `${genuine}.${third}`],
      ['five parts', `${genuine}.${third}.${third}`],
      ['a dot after it', `${genuine}.`],
      ['a dot before it', `.${genuine}`],
      ['two dots between', genuine.replace('.', '..')],
      [
        'an encrypted one',
        [
          part({ alg: 'dir', enc: 'A256GCM' }),
          '',
          encode(randomBytes(12)),
          encode(randomBytes(32)),
          encode(randomBytes(16)),
        ].join('.'),
      ],
      ['its JSON form', JSON.stringify({ protected: first, payload: body, signature: third })],
      ['its parts in another order', [body, first, third].join('.')],
      ['commas for dots', genuine.replaceAll('.', ',')],
      ['encoded once more', encode(genuine)],
      ['a token inside a token', make({ cty: 'JWT' }, genuine)],
    ]
    return {
      name: 'encodings',
      accepted: [
        accept('characters that base64 has others for', `${signed}.${encode(found)}`),
        accept('header of another length', make({ pad: 'x' })),
        accept('header of a third length', make({ pad: 'xx' })),
        accept('payload of another length', make({}, { pad: 'x' })),
        accept('payload of a third length', make({}, { pad: 'xx' })),
      ],
      refused: [
        ...repairs.flatMap(([what, spoil]) => [
          refuse(`${what}: header`, sealed(spoil(head), body)),
          refuse(`${what}: header that was signed without`, `${spoil(head)}.${body}.${seal}`),
          refuse(`${what}: payload`, sealed(head, spoil(body))),
          refuse(`${what}: payload that was signed without`, `${head}.${spoil(body)}.${seal}`),
          refuse(`${what}: signature`, `${head}.${body}.${spoil(seal)}`),
        ]),
        refuse('standard base64: header', sealed(standardHead, whole[1])),
        refuse('standard base64: payload', sealed(whole[0], standardBody)),
        refuse('standard base64: signature', `${signed}.${standard(encode(found))}`),
        ...parts.map(([what, token]) => refuse(what, token)),
      ],
    }
  }

  /** Parts that are base64url of what is no JSON object, or of one that is written strangely. */
  function json(): TokenClass {
    const bodyText = JSON.stringify(claims)
    const headText = JSON.stringify(header)
    const bytes = (...values: (string | number[])[]) =>
      Buffer.concat(values.map((value) => (typeof value === 'string' ? Buffer.from(value) : Buffer.from(value))))
    const inText = (text: string, ...broken: number[]) => bytes(text.slice(0, -1), ',"x":"', broken, '"}')
    const spoilt: [string, (text: string) => string | Uint8Array][] = [
      ['a byte order mark', (text) => `\ufeff${text}`],
      ['UTF-16', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
      ['UTF-16 without a mark', (text) => Buffer.from(text, 'utf16le')],
      ['a byte of 255', (text) => inText(text, 0xff)],
      ['a byte that continues nothing', (text) => inText(text, 0x80)],
      ['an overlong slash', (text) => inText(text, 0xc0, 0xaf)],
      ['an overlong NUL', (text) => inText(text, 0xc0, 0x80)],
      ['half a surrogate pair in UTF-8', (text) => inText(text, 0xed, 0xa0, 0x80)],
      ['a pair of surrogates in UTF-8', (text) => inText(text, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80)],
      ['more than U+10FFFF', (text) => inText(text, 0xf4, 0x90, 0x80, 0x80)],
      ['a character cut short', (text) => inText(text, 0xe2, 0x82)],
      ['a byte too many at the end', (text) => bytes(text, [0xff])],
      ['NUL after it', (text) => `${text}\0`],
      ['NUL in a text', (text) => inText(text, 0)],
      ['a newline in a text', (text) => inText(text, 10)],
      ['a list', (text) => `[${text}]`],
      ['text', (text) => JSON.stringify(text)],
      ['null', () => 'null'],
      ['a number', () => '1'],
      ['true', () => 'true'],
      ['an empty object', () => '{}'],
      ['an empty list', () => '[]'],
      ['blanks', () => '  '],
      ['two values', (text) => `${text}${text}`],
      ['a comma too many', (text) => text.replace(/}$/, ',}')],
      ['a comment', (text) => `/**/${text}`],
      ['single quotes', (text) => text.replaceAll('"', "'")],
      ['a name without quotes', (text) => text.replace(/"(alg|sub)"/, '$1')],
      ['NaN in it', (text) => text.replace(/}$/, ',"x":NaN}')],
      ['Infinity in it', (text) => text.replace(/}$/, ',"x":Infinity}')],
      ['hex in it', (text) => text.replace(/}$/, ',"x":0x10}')],
      ['a leading zero in it', (text) => text.replace(/}$/, ',"x":01}')],
      ['a bad escape in it', (text) => text.replace(/}$/, ',"x":"\\x41"}')],
      ['no end', (text) => text.slice(0, -1)],
      ['a no-break space before it', (text) => `\u00a0${text}`],
      ['brackets without an end', () => '['.repeat(4000)],
      ['objects without an end', () => '{"a":'.repeat(900)],
      ['a list a thousand deep', () => '['.repeat(1000) + ']'.repeat(1000)],
    ]
    const written: [string, (text: string) => string][] = [
      ['blanks and newlines', (text) => ` \t\r\n${text.replaceAll(',', ' ,\n ')}\n`],
      ['escapes in the names', (text) => text.replace('"alg"', '"\\u0061lg"').replace('"sub"', '"\\u0073ub"')],
      ['U+10FFFF and U+2028', (text) => text.replace(/}$/, ',"x":"\u{10ffff}\u2028"}')],
      [
        'members in another order',
        (text) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).reverse())),
      ],
      ['a list five hundred deep', (text) => text.replace(/}$/, `,"x":${'['.repeat(500)}${']'.repeat(500)}}`)],
      ['an object three hundred deep', (text) => text.replace(/}$/, `,"x":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`)],
      [
        'numbers out of range',
        (text) => text.replace(/}$/, ',"x":[1e400,-1e400,-0,1e-400,123456789012345678901234567890]}'),
      ],
    ]
    return {
      name: 'JSON',
      accepted: written.flatMap(([what, write]) => [
        accept(`header with ${what}`, make(write(headText))),
        accept(`payload with ${what}`, make({}, write(bodyText))),
      ]),
      refused: [
        ...spoilt.flatMap(([what, spoil]) => [
          refuse(`header: ${what}`, make(spoil(headText))),
          refuse(`payload: ${what}`, make({}, spoil(bodyText))),
        ]),
        refuse('sub twice, an empty one last', make({}, bodyText.replace(/}$/, ',"sub":""}'))),
        refuse('exp twice, the past one last', make({}, bodyText.replace(/}$/, ',"exp":1}'))),
        refuse('iss twice, a wrong one last', make({}, bodyText.replace(/}$/, ',"iss":"x"}'))),
      ],
    }
  }

  /** Signature values at the edges of the curve. */
  function curve(): TokenClass {
    const made = ecdsa(unsigned, key)
    const [r, s] = [numberOf(made.subarray(0, 32)), numberOf(made.subarray(32))]
    const of = (r: bigint, s: bigint) => `${unsigned}.${encode(Buffer.concat([bytesOf(r), bytesOf(s)]))}`
    const edges: [string, bigint][] = [
      ['0', 0n],
      ['1', 1n],
      ['n − 1', n - 1n],
      ['n', n],
      ['n + 1', n + 1n],
      ['p − 1', p - 1n],
      ['p', p],
      ['p + 1', p + 1n],
      ['all ones', 2n ** 256n - 1n],
      ['half of n', n >> 1n],
    ]
    const low = s > n >> 1n ? n - s : s
    const short = (from: number) =>
      encode(
        searched(
          () => ecdsa(unsigned, key),
          (bytes) => bytes[from] === 0,
        ),
      )
    return {
      name: 'signature values',
      accepted: [
        accept('r and s as they were made', of(r, s)),
        // the other s is as valid: a token is no name for anything, so that this forges nothing
        accept('the lower s', of(r, low)),
        accept('the higher s', of(r, n - low)),
        accept('an r that begins with a zero', `${unsigned}.${short(0)}`),
        accept('an s that begins with a zero', `${unsigned}.${short(32)}`),
      ],
      refused: [
        ...edges
          .flatMap(([what, edge]) => [
            refuse(`r of ${what}`, of(edge, s)),
            refuse(`s of ${what}`, of(r, edge)),
            refuse(`r and s of ${what}`, of(edge, edge)),
            refuse(`r of ${what}, s of 0`, of(edge, 0n)),
            refuse(`r of ${what}, s of n`, of(edge, n)),
          ])
          .filter(([what]) => what !== 'r of 0, s of 0' && what !== 'r of n, s of n'),
        refuse('r and s swapped', of(s, r)),
        refuse('n − r', of(n - r, s)),
        refuse('n − r and n − s', of(n - r, n - s)),
        refuse('r + 1', of(r + 1n, s)),
        refuse('s + 1', of(r, s + 1n)),
        refuse('2s', of(r, (2n * s) % n)),
        refuse('r twice', of(r, r)),
        refuse('s twice', of(s, s)),
        refuse('complements', of(2n ** 256n - 1n - r, 2n ** 256n - 1n - s)),
        refuse('x of the public key for r', of(numberOf(Buffer.from(owner.jwk.x!, 'base64url')), s)),
      ],
    }
  }

  function signatures(): TokenClass {
    const made = Buffer.from(seal, 'base64url')
    const of = (bytes: Uint8Array) => `${unsigned}.${encode(bytes)}`
    const zero = Buffer.alloc(1)
    const der = sign('sha256', Buffer.from(unsigned), key)
    const otherBody = part({ ...claims, sub: 'usr_2' })
    const otherHead = part({ ...header, typ: 'JWT' })
    const over = (text: string | Uint8Array, hash = 'sha256') =>
      of(sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }))
    const reversed = (bytes: Uint8Array) => Buffer.from(bytes).reverse()
    return {
      name: 'signatures',
      accepted: [accept('made again', of(ecdsa(unsigned, key))), accept('once more', of(ecdsa(unsigned, key)))],
      refused: [
        refuse('DER', of(der)),
        refuse('DER of 64 bytes', of(Buffer.concat([der, Buffer.alloc(64)]).subarray(0, 64))),
        refuse('63 bytes', of(made.subarray(1))),
        refuse('63 bytes, the last one gone', of(made.subarray(0, 63))),
        refuse('65 bytes, a zero first', of(Buffer.concat([zero, made]))),
        refuse('65 bytes, a zero last', of(Buffer.concat([made, zero]))),
        refuse(
          '66 bytes, a zero before each',
          of(Buffer.concat([zero, made.subarray(0, 32), zero, made.subarray(32)])),
        ),
        refuse('a half of it', of(made.subarray(0, 32))),
        refuse('one byte', of(zero)),
        refuse('96 bytes', of(Buffer.concat([made, made.subarray(0, 32)]))),
        refuse('it twice', of(Buffer.concat([made, made]))),
        refuse('132 bytes', of(Buffer.alloc(132))),
        refuse('4 KiB', of(Buffer.alloc(4096))),
        refuse('in hex', `${unsigned}.${made.toString('hex')}`),
        refuse('encoded twice', of(Buffer.from(seal))),
        refuse('its bytes from back to front', of(reversed(made))),
        refuse(
          'little-endian numbers',
          of(Buffer.concat([reversed(made.subarray(0, 32)), reversed(made.subarray(32))])),
        ),
        refuse('of another header', `${otherHead}.${body}.${seal}`),
        refuse('of another payload', `${head}.${otherBody}.${seal}`),
        refuse('of the same header in another order', `${part({ kid, alg: 'ES256' })}.${body}.${seal}`),
        refuse('of the payload alone', over(part(claims))),
        refuse('of the header alone', over(part(header))),
        refuse('of the JSON', over(`${JSON.stringify(header)}.${JSON.stringify(claims)}`)),
        refuse('of both parts without a dot', over(part(header) + part(claims))),
        refuse('of both parts and a newline', over(`${unsigned}\n`)),
        refuse('of both parts and a dot', over(`${unsigned}.`)),
        refuse('of both parts in UTF-16', over(Buffer.from(unsigned, 'utf16le'))),
        refuse('of nothing', over('')),
        refuse('with SHA-1', over(unsigned, 'sha1')),
        refuse('with SHA-384', over(unsigned, 'sha384')),
        refuse('with SHA-512', over(unsigned, 'sha512')),
        refuse('with SHA3-256', over(unsigned, 'sha3-256')),
        refuse('of a fresh key', make({}, {}, strangerKey)),
        refuse('of another key of the set', make({}, {}, privateOf(second))),
        refuse('of a fresh key, without a kid', make({ kid: undefined }, {}, strangerKey)),
        ...Array.from({ length: 64 }, (_, index) => {
          const flipped = Buffer.from(made)
          flipped[index]! ^= 1 << (index % 8)
          return refuse(`a bit of byte ${index} flipped`, of(flipped))
        }),
      ],
    }
  }

  function times(): TokenClass {
    const text = (member: string) => JSON.stringify({ ...claims, exp: undefined }).replace(/}$/, `,${member}}`)
    const raw = [
      '1e400',
      '-1e400',
      '1e-400',
      '-0',
      '"Infinity"',
      '"NaN"',
      'null',
      'true',
      '{}',
      '[]',
      `[${now + 900}]`,
      '""',
    ]
    const numbers: [string, unknown][] = [
      ['now', now],
      ['a second ago', now - 1],
      ['a moment ago', now - 0.001],
      ['an hour ago', now - 3600],
      ['zero', 0],
      ['minus one', -1],
      ['negative', -(now + 900)],
      ['text', String(now + 900)],
      ['a date', new Date((now + 900) * 1000).toISOString()],
    ]
    const ahead: [string, unknown][] = [
      ['ten minutes ahead', now + 600],
      ['a day ahead', now + 86_400],
      ['in milliseconds', now * 1000],
      ['as text', String(now)],
      ['as a date', new Date(now * 1000).toISOString()],
      ['null', null],
      ['true', true],
      ['a list', [now]],
      ['an object', {}],
      ['empty', ''],
    ]
    return {
      name: 'exp, nbf and iat',
      accepted: [
        accept('exp in five minutes', make({}, { exp: now + 300 })),
        accept('exp with a fraction', make({}, { exp: now + 900.5 })),
        accept('exp as 4e9', make({}, text('"exp":4e9'))),
        accept('exp of the largest integer', make({}, { exp: Number.MAX_SAFE_INTEGER })),
        accept('exp of the largest number', make({}, { exp: Number.MAX_VALUE })),
        ...(['nbf', 'iat'] as const).flatMap((claim) => [
          accept(`${claim} 5 s ahead`, make({}, { [claim]: now + 5 })),
          accept(`${claim} now`, make({}, { [claim]: now })),
          accept(`no ${claim}`, make({}, { [claim]: undefined })),
          accept(`${claim} of zero`, make({}, { [claim]: 0 })),
          accept(`${claim} negative`, make({}, { [claim]: -1 })),
          accept(`${claim} with a fraction`, make({}, { [claim]: now - 0.5 })),
          accept(`${claim} years ago`, make({}, { [claim]: 1 })),
        ]),
      ],
      refused: [
        refuse('no exp', make({}, { exp: undefined })),
        ...numbers.map(([what, exp]) => refuse(`exp: ${what}`, make({}, { exp }))),
        ...raw.map((exp) => refuse(`exp of ${exp}`, make({}, text(`"exp":${exp}`)))),
        refuse('exp in another case', make({}, { exp: undefined, Exp: now + 900, EXP: now + 900 })),
        refuse('exp in the header', make({ exp: now + 900 }, { exp: undefined })),
        ...(['nbf', 'iat'] as const).flatMap((claim) => [
          ...ahead.map(([what, value]) => refuse(`${claim} ${what}`, make({}, { [claim]: value }))),
          refuse(
            `${claim} of 1e400`,
            make({}, JSON.stringify({ ...claims, [claim]: undefined }).replace(/}$/, `,"${claim}":1e400}`)),
          ),
        ]),
      ],
    }
  }

  function parties(): TokenClass {
    const near = (value: string): [string, unknown][] => [
      ['absent', undefined],
      ['empty', ''],
      ['null', null],
      ['a number', 1],
      ['true', true],
      ['an object', { [value]: value }],
      ['a list in a list', [[value]]],
      ['an empty list', []],
      ['in upper case', value.toUpperCase()],
      ['with a slash', `${value}/`],
      ['with a blank', `${value} `],
      ['with NUL', `${value}\0`],
      ['cut short', value.slice(0, -1)],
      ['one of two in a text', `${value} other`],
      ['of somebody else', 'https://other.example'],
      ['a pattern', '*'],
    ]
    return {
      name: 'iss and aud',
      accepted: [
        accept('aud in a list', make({}, { aud: [aud] })),
        accept('aud in a list of several', make({}, { aud: ['other', aud, 'more'] })),
        accept('aud in a list of anything', make({}, { aud: [1, null, { a: 1 }, aud] })),
      ],
      refused: [
        ...near(iss).map(([what, value]) => refuse(`iss ${what}`, make({}, { iss: value }))),
        refuse('iss in a list', make({}, { iss: [iss] })),
        refuse('iss by another name of its host', make({}, { iss: iss.replace('https', 'http') })),
        refuse('iss with a port', make({}, { iss: iss.replace('.example', '.example:443') })),
        ...near(aud).map(([what, value]) => refuse(`aud ${what}`, make({}, { aud: value }))),
        refuse('aud not in its list', make({}, { aud: ['other', `${aud}x`] })),
        refuse('iss and aud in each other’s place', make({}, { iss: aud, aud: iss })),
        refuse('azp for aud', make({}, { aud: undefined, azp: aud })),
      ],
    }
  }

  function subjects(): TokenClass {
    const strange = [
      ' ',
      '__proto__',
      'constructor',
      "' or 1=1 --",
      '{"sub":"usr_2"}',
      'ü😀\u2028',
      'a\nb\u001b[2J',
      '../..',
      'x'.repeat(2000),
    ]
    const wrong: unknown[] = ['', 0, 1, null, true, false, [], ['usr_1'], {}, { sub: 'usr_1' }]
    return {
      name: 'sub',
      accepted: strange.map((sub) => accept(`sub ${JSON.stringify(sub).slice(0, 40)}`, make({}, { sub }), sub)),
      refused: [
        refuse('no sub', make({}, { sub: undefined })),
        ...wrong.map((sub) => refuse(`sub ${JSON.stringify(sub)}`, make({}, { sub }))),
        refuse('sub in another case', make({}, { sub: undefined, Sub: 'usr_1' })),
        refuse('sub in the header', make({ sub: 'usr_1' }, { sub: undefined })),
        refuse('user_id for sub', make({}, { sub: undefined, user_id: 'usr_1', id: 'usr_1' })),
      ],
    }
  }

  /** 3.4: whatever `role` says, but `anon`, is a signed-in user; it is no role of the database. */
  function roles(): TokenClass {
    const any: unknown[] = [
      'authenticated',
      'admin',
      'service_role',
      'backend_service_role',
      'auth_admin',
      'postgres',
      'ANON',
      'anon ',
      '',
      7,
      null,
      true,
      ['anon'],
      {},
    ]
    return {
      name: 'role',
      accepted: [
        accept('no role', genuine),
        ...any.map((role) => accept(`role ${JSON.stringify(role)}`, make({}, { role }))),
      ],
      refused: ['anon', 'authenticated', 'service_role'].map((role) =>
        refuse(`role ${role}, signed by a stranger`, make({}, { role }, strangerKey)),
      ),
    }
  }

  /** What Postgres cannot hold would fail every policy: such a token is nobody's. */
  function unstorable(): TokenClass {
    const spoilt: [string, string][] = [
      ['NUL', 'a\0b'],
      ['NUL alone', '\0'],
      ['the first half of a pair', '\ud83d'],
      ['the second half of a pair', '\ude00'],
      ['a pair the wrong way round', '\ude00\ud83d'],
    ]
    const held: [string, string][] = [
      ['a whole pair', '😀'],
      ['a backslash and u0000', '\\u0000'],
      ['a backslash and ud800', '\\ud800'],
      ['every other control', '\u0001\u0007\b\u001b\u001f\u007f\u0080\u009f'],
      ['no characters', '\ufffe\uffff\ufdd0'],
      ['a byte order mark', '\ufeff'],
      ['line separators', '\u2028\u2029'],
      ['turned text', '\u202eabc\u202c'],
    ]
    const places: [string, (text: string) => Json][] = [
      ['a claim', (text) => ({ x: text })],
      ['a claim’s name', (text) => ({ [text]: 1 })],
      ['a list', (text) => ({ x: [1, [text]] })],
      ['a name far inside', (text) => ({ x: [{ y: { [text]: null } }] })],
      ['the email', (text) => ({ email: text })],
    ]
    return {
      name: 'claims that Postgres cannot hold',
      accepted: places.flatMap(([where, put]) =>
        held.map(([what, text]) => accept(`${what} in ${where}`, make({}, put(text)))),
      ),
      refused: [
        ...places.flatMap(([where, put]) =>
          spoilt.map(([what, text]) => refuse(`${what} in ${where}`, make({}, put(text)))),
        ),
        ...spoilt.map(([what, text]) => refuse(`${what} in sub`, make({}, { sub: `usr_${text}` }))),
      ],
    }
  }

  function prototypes(): TokenClass {
    const with_ = (member: string) => JSON.stringify(claims).replace(/^{/, `{${member},`)
    const inner = JSON.stringify(claims)
    return {
      name: 'names of every object',
      accepted: [
        accept('__proto__ with another role', make({}, with_('"__proto__":{"role":"anon","sub":"usr_2"}'))),
        accept('__proto__ of null', make({}, with_('"__proto__":null'))),
        accept('constructor and prototype', make({}, with_('"constructor":{"prototype":{"role":"anon"}}'))),
        accept('toString, valueOf, toJSON, then', make({}, with_('"toString":1,"valueOf":1,"toJSON":1,"then":1'))),
        accept('__proto__ in the header', make(`{"__proto__":{"alg":"none"},"alg":"ES256","kid":"${kid}"}`)),
        accept('hasOwnProperty in the header', make(`{"hasOwnProperty":1,"alg":"ES256","kid":"${kid}"}`)),
      ],
      refused: [
        refuse('all claims in __proto__', make({}, `{"__proto__":${inner}}`)),
        refuse('all claims in constructor', make({}, `{"constructor":{"prototype":${inner}}}`)),
        refuse(
          'exp in __proto__',
          make({}, JSON.stringify({ ...claims, exp: undefined }).replace(/^{/, `{"__proto__":{"exp":${now + 900}},`)),
        ),
        refuse(
          'sub in __proto__',
          make({}, JSON.stringify({ ...claims, sub: undefined }).replace(/^{/, '{"__proto__":{"sub":"usr_1"},')),
        ),
        refuse('the header in __proto__', make(`{"__proto__":${JSON.stringify(header)}}`)),
        refuse('alg in __proto__', make(`{"__proto__":{"alg":"ES256"},"kid":"${kid}"}`)),
      ],
    }
  }

  function authorizationHeaders(): TokenClass {
    /** Genuine, and as long as the whole header is to be. */
    const long = (length: number) => {
      for (let inHead = 0; ; inHead++) {
        const token = (inBody: number) => make({ pad: 'h'.repeat(inHead) }, { pad: 'b'.repeat(inBody) })
        const lacking = length - `Bearer ${token(0)}`.length
        for (const inBody of [0, 1].map((more) => Math.floor((lacking * 3) / 4) + more)) {
          if (`Bearer ${token(inBody)}`.length === length) return token(inBody)
        }
      }
    }
    const t = genuine
    const forms: [string, string][] = [
      ['nothing', ''],
      ['the scheme alone', 'Bearer'],
      ['the token alone', t],
      ['a tab', `Bearer\t${t}`],
      ['a blank and a tab', `Bearer \t${t}`],
      ['a no-break space', `Bearer\xa0${t}`],
      ['no blank', `Bearer${t}`],
      ['a colon', `Bearer: ${t}`],
      ['an equals sign', `Bearer=${t}`],
      ['token=', `Bearer token=${t}`],
      ['quotes', `Bearer "${t}"`],
      ['angle brackets', `Bearer <${t}>`],
      ['a comma after it', `Bearer ${t},`],
      ['a comma before it', `, Bearer ${t}`],
      ['a semicolon after it', `Bearer ${t};`],
      ['a parameter after it', `Bearer ${t}, realm="x"`],
      ['something after it', `Bearer ${t} x`],
      ['two tokens', `Bearer ${t}, Bearer ${t}`],
      ['two tokens, a comma alone', `Bearer ${t},${t}`],
      ['two tokens, a blank', `Bearer ${t} ${t}`],
      ['the scheme twice', `Bearer Bearer ${t}`],
      ['another scheme first', `Basic eDp5, Bearer ${t}`],
      ['Basic', `Basic ${t}`],
      ['Basic with credentials', `Basic ${Buffer.from(`x:${t}`).toString('base64')}`],
      ['DPoP', `DPoP ${t}`],
      ['Token', `Token ${t}`],
      ['JWT', `JWT ${t}`],
      ['Digest', `Digest ${t}`],
      ['Negotiate', `Negotiate ${t}`],
      ['MAC', `MAC ${t}`],
      ['Bearers', `Bearers ${t}`],
      ['Beare', `Beare ${t}`],
      ['BEARER with a look-alike', `B\xc8ARER ${t}`],
      ['a no-break space after it', `Bearer ${t}\xa0`],
      ['a no-break space before it', `\xa0Bearer ${t}`],
      ['a form feed after it', `Bearer ${t}\f`],
      ['undefined', 'Bearer undefined'],
      ['null', 'Bearer null'],
      ['[object Object]', 'Bearer [object Object]'],
      ['8 KiB and a byte', `Bearer ${long(longestHeader + 1)}`],
      ['16 KiB', `Bearer ${long(2 * longestHeader)}`],
      ['16 KiB of dots', `Bearer ${'.'.repeat(2 * longestHeader)}`],
      ['16 KiB of letters', `Bearer ${'A'.repeat(2 * longestHeader)}`],
      ['8000 blanks', `Bearer ${' '.repeat(8000)}${t}`],
    ]
    const taken: [string, Lines][] = [
      ['bearer', lines(`bearer ${t}`)],
      ['BEARER', lines(`BEARER ${t}`)],
      ['bEaReR', lines(`bEaReR ${t}`)],
      ['two blanks behind the scheme', lines(`Bearer  ${t}`)],
      ['blanks behind the value, which are no part of it', lines(`Bearer ${t}   `)],
      ['a folded line, which is a blank (RFC 9112 section 5.2)', lines(`Bearer\r\n ${t}`)],
      ['a tab behind the value', lines(`Bearer ${t}\t`)],
      ['blanks before the value, which are no part of it', lines(`   Bearer ${t}`)],
      ['AUTHORIZATION', [['AUTHORIZATION', `Bearer ${t}`]]],
      ['exactly 8 KiB', lines(`Bearer ${long(longestHeader)}`)],
      ['one byte less', lines(`Bearer ${long(longestHeader - 1)}`)],
    ]
    const bad = make({}, {}, strangerKey)
    const repeated: [string, string[]][] = [
      ['two headers', [`Bearer ${t}`, `Bearer ${t}`]],
      ['two headers, a wrong one last', [`Bearer ${t}`, `Bearer ${bad}`]],
      ['two headers, a wrong one first', [`Bearer ${bad}`, `Bearer ${t}`]],
      ['two headers, one of them Basic', ['Basic eDp5', `Bearer ${t}`]],
      ['two headers, an empty one last', [`Bearer ${t}`, '']],
      ['a token in two headers', [`Bearer ${head}.`, `${body}.${seal}`]],
      ['three headers', [`Bearer ${t}`, `Bearer ${t}`, `Bearer ${t}`]],
    ]
    return {
      name: 'the header',
      accepted: taken.map(([what, lines]) => [`header: ${what}`, { lines, id: 'usr_1' }]),
      refused: [
        ...forms.map(([what, value]): Refused => [`header: ${what}`, lines(value)]),
        ...repeated.map(([what, values]): Refused => [what, values.map((value) => ['authorization', value])]),
        [
          'two headers in two cases',
          [
            ['Authorization', `Bearer ${t}`],
            ['authorization', `Bearer ${t}`],
          ],
        ],
      ],
    }
  }

  /** Where a token is not read (3.1). */
  function elsewhere(): TokenClass {
    const names = [
      'apikey',
      'x-api-key',
      'x-authorization',
      'proxy-authorization',
      'x-forwarded-authorization',
      'authentication',
      'x-access-token',
      'token',
      'dpop',
      'authorization-x',
      'x-jwt-assertion',
      'cf-access-jwt-assertion',
    ]
    return {
      name: 'elsewhere',
      accepted: [
        [
          'beside an apikey and cookies',
          { lines: [['apikey', 'x'], ['cookie', 'access_token=x'], ...bearer(genuine)], id: 'usr_1' },
        ],
      ],
      refused: [
        ...names.flatMap((name): Refused[] => [
          [`in ${name}`, [[name, genuine]]],
          [`in ${name}, as Bearer`, [[name, `Bearer ${genuine}`]]],
        ]),
        ['in a cookie', [['cookie', `access_token=${genuine}; authorization=Bearer ${genuine}; token=${genuine}`]]],
        ['as the protocol of a web socket', [['sec-websocket-protocol', `bearer, ${genuine}`]]],
        ['nowhere', []],
      ],
    }
  }

  /** Entries that are no P-256 key for verifying ES256 are not there (3.2); each is tried under its kid and without any. */
  function keys(): TokenClass {
    const by = (kid: string | undefined) => make({ kid })
    const usable = ['bare-members', 'private', 'use-sig', 'alg-es256', 'verifies', 'more-members', 'after-broken']
    return {
      name: 'the key set',
      accepted: usable.map((kid) => accept(`by the key ${kid}`, by(kid))),
      refused: [
        ...junk().flatMap((entry) => {
          const kid = (entry as Json | null)?.['kid']
          return typeof kid === 'string' ? [refuse(`by the key ${kid}`, make({ kid }, {}, ownerOf(kid)))] : []
        }),
        ...[...lone.entries()].map(([kid, by]) =>
          refuse(`by the key ${kid}, without a kid`, make({ kid: undefined }, {}, by)),
        ),
      ],
    }
  }

  function ownerOf(kid: string): KeyObject {
    return lone.get(kid) ?? key
  }

  function junk(): unknown[] {
    const { x, y } = owner.jwk as { x: string; y: string }
    const own = { kty: 'EC', crv: 'P-256', x, y }
    const flipped = Buffer.from(y, 'base64url')
    flipped[31]! ^= 1
    const lonely = (kid: string, more: Json) => ({ ...jwkOf(createPublicKey(ownerOf(kid))), kid, ...more })
    return [
      null,
      1,
      'text',
      true,
      [],
      [null],
      {},
      { kid: 'empty' },
      { ...jwkOf(rsa.publicKey), kid: 'rsa', alg: 'RS256', use: 'sig' },
      { ...jwkOf(rsa.publicKey), kid: 'rsa-es256', alg: 'ES256' },
      { kty: 'oct', k: encode(secret), kid: 'oct', alg: 'HS256' },
      { kty: 'oct', k: encode(secret), kid: 'oct-es256', alg: 'ES256' },
      { ...jwkOf(ed25519.publicKey), kid: 'ed25519' },
      { ...jwkOf(p384.publicKey), kid: 'p384' },
      { ...jwkOf(p384.publicKey), kid: 'p384-as-p256', crv: 'P-256' },
      { ...jwkOf(p521.publicKey), kid: 'p521' },
      { ...jwkOf(secp256k1.publicKey), kid: 'secp256k1' },
      { ...jwkOf(secp256k1.publicKey), kid: 'secp256k1-as-p256', crv: 'P-256' },
      { ...own, kid: 'no-kty', kty: undefined },
      { ...own, kid: 'kty-in-lower-case', kty: 'ec' },
      { ...own, kid: 'kty-in-a-list', kty: ['EC'] },
      { ...own, kid: 'no-crv', crv: undefined },
      { ...own, kid: 'crv-in-lower-case', crv: 'p-256' },
      { ...own, kid: 'crv-p384', crv: 'P-384' },
      { ...own, kid: 'crv-prime256v1', crv: 'prime256v1' },
      { ...own, kid: 'no-x', x: undefined },
      { ...own, kid: 'no-y', y: undefined },
      { ...own, kid: 'x-null', x: null },
      { ...own, kid: 'x-number', x: 1 },
      { ...own, kid: 'x-list', x: [x] },
      { ...own, kid: 'x-empty', x: '' },
      { ...own, kid: 'x-short', x: encode(Buffer.from(x, 'base64url').subarray(0, 31)) },
      { ...own, kid: 'x-and-y-swapped', x: y, y: x },
      { ...own, kid: 'origin', x: encode(Buffer.alloc(32)), y: encode(Buffer.alloc(32)) },
      { ...own, kid: 'off-the-curve', y: encode(flipped) },
      { ...own, kid: 'x-of-p', x: encode(bytesOf(p)) },
      lonely('use-enc', { use: 'enc' }),
      lonely('use-in-upper-case', { use: 'SIG' }),
      lonely('use-null', { use: null }),
      lonely('use-list', { use: ['sig'] }),
      lonely('alg-es384', { alg: 'ES384' }),
      lonely('alg-ecdh', { alg: 'ECDH-ES' }),
      lonely('alg-hs256', { alg: 'HS256' }),
      lonely('alg-in-lower-case', { alg: 'es256' }),
      lonely('alg-null', { alg: null }),
      lonely('derives', { key_ops: ['deriveKey', 'deriveBits'] }),
      lonely('signs', { key_ops: ['sign'] }),
      lonely('does-nothing', { key_ops: [] }),
    ]
  }

  function keySet(): string {
    const { x, y } = owner.jwk as { x: string; y: string }
    const own = { kty: 'EC', crv: 'P-256', x, y }
    const again = (kid: unknown, more: Json = {}) => ({ ...own, kid, ...more })
    return JSON.stringify({
      issuer: iss,
      keys: [
        ...junk(),
        owner.jwk,
        second.jwk,
        withoutKid({ ...bare.jwk }),
        firstTwin.jwk,
        secondTwin.jwk,
        again(7),
        again('after-broken', { x: 'AAAA' }),
        again('after-broken'),
        again('bare-members'),
        again('private', { d: jwkOf(key).d, key_ops: undefined }),
        again('use-sig', { use: 'sig' }),
        again('alg-es256', { alg: 'ES256' }),
        again('verifies', { key_ops: ['verify'], ext: true }),
        again('more-members', { x5c: 'no list', x5t: 1, nbf: 'x', keys: [] }),
        ...strangeKids.map((kid) => again(kid)),
      ],
    })
  }
}

/** Names that are kids like any other. */
const strangeKids = ['../../../../etc/passwd', "' or ''='", 'constructor.prototype', 'ü😀', 'a b', 'k'.repeat(500)]

/** Keys that are in the set for something else only: nothing that they sign is a token. */
const lone = new Map(
  [
    ...['use-enc', 'use-in-upper-case', 'use-null', 'use-list', 'alg-es384', 'alg-ecdh', 'alg-hs256'],
    ...['alg-in-lower-case', 'alg-null', 'derives', 'signs', 'does-nothing'],
  ].map((kid) => [kid, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey]),
)

const privateOf = ({ privateKey }: Issuer): KeyObject => KeyObject.from(privateKey as webcrypto.CryptoKey)

/** Decodes to the same bytes, but for the bits that are none of them. */
function otherBits(text: string): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  // a whole number of bytes has no spare bits: one character more is of no byte
  if (text.length % 4 === 0) return `${text}B`
  return text.slice(0, -1) + digits[digits.indexOf(text.at(-1)!) | 1]
}

function searched(make: () => Buffer, isWanted: (bytes: Buffer) => boolean): Buffer {
  for (;;) {
    const made = make()
    if (isWanted(made)) return made
  }
}
