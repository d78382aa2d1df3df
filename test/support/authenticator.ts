/** A software authenticator and the browser before it (WebAuthn level 3): real keys, CBOR, authenticator data and signatures. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import { selfSigned } from './certificates.ts'

/** What `navigator.credentials.create()` and `get()` take, as JSON. */
interface Options {
  challenge: string
  rp?: { id: string }
  rpId?: string
  user?: { id: string }
  excludeCredentials?: { id: string }[]
  allowCredentials?: { id: string }[]
}

/** Everything that a hostile client may say otherwise. */
export interface Lies {
  origin?: string
  /** The domain whose hash is signed. */
  rpId?: string
  type?: string
  challenge?: string
  crossOrigin?: boolean
  topOrigin?: string
  userHandle?: string | null
  credentialId?: string
  /** Flags of the authenticator data (section 6.1). The defaults are those of the authenticator. */
  flags?: Partial<Flags>
  counter?: number
  /** Changes the bytes before they are sent, after the signature was made. */
  tamper?: {
    signature?: boolean
    authenticatorData?: boolean
    attestation?: 'statement' | 'bytes' | 'point'
  }
  /** The attestation is signed by the new key itself, instead of none. */
  selfAttested?: boolean
  /** The attestation is signed by a certificate, in the format of FIDO U2F (section 8.6), instead of none. The key is ES256. */
  certified?: boolean
}

interface Flags {
  /** The user was present. */
  up: boolean
  /** The user was verified, by a PIN or a biometric. */
  uv: boolean
  /** The key may be backed up, and is. */
  be: boolean
  bs: boolean
}

/** `RSA1024` is RS256 with a modulus that is too short. */
export type KeyType = 'ES256' | 'EdDSA' | 'RS256' | 'RSA1024'

type Cbor = number | string | Uint8Array | Cbor[] | Map<number | string, Cbor>

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest()

/** A key pair, and its public half as COSE has it (RFC 9053). */
function newKey(type: KeyType): { privateKey: KeyObject; cose: Map<number | string, Cbor> } {
  const decoded = (text: string | undefined) => Buffer.from(text!, 'base64url')
  if (type === 'ES256') {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x, y } = publicKey.export({ format: 'jwk' })
    const members: [number, Cbor][] = [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, decoded(x)],
      [-3, decoded(y)],
    ]
    return { privateKey, cose: new Map(members) }
  }
  if (type === 'EdDSA') {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const members: [number, Cbor][] = [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, decoded(publicKey.export({ format: 'jwk' }).x)],
    ]
    return { privateKey, cose: new Map(members) }
  }
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: type === 'RS256' ? 2048 : 1024 })
  const { n, e } = publicKey.export({ format: 'jwk' })
  const members: [number, Cbor][] = [
    [1, 3],
    [3, -257],
    [-1, decoded(n)],
    [-2, decoded(e)],
  ]
  return { privateKey, cose: new Map(members) }
}

export class Authenticator {
  readonly id = randomBytes(32)
  /** The counter that the next assertion carries. An authenticator that keeps none says 0 each time. */
  counter: number
  userHandle: string | undefined
  readonly #key: KeyObject
  readonly #publicKey: Map<number | string, Cbor>
  readonly #flags: Flags
  readonly #origin: string

  /** @param origin of the page. @param counter 0 keeps none, and any other number grows. */
  constructor(
    origin: string,
    { counter = 0, key = 'ES256', ...flags }: Partial<Flags> & { counter?: number; key?: KeyType } = {},
  ) {
    this.#origin = origin
    const { privateKey, cose } = newKey(key)
    this.#key = privateKey
    this.#publicKey = cose
    this.#flags = { up: true, uv: true, be: true, bs: true, ...flags }
    this.counter = counter
  }

  get credentialId(): string {
    return base64url(this.id)
  }

  /** @throws Error where the options exclude this very credential, as a browser does. */
  create(options: Options, lies: Lies = {}) {
    if (options.excludeCredentials?.some(({ id }) => id === this.credentialId)) throw new Error('InvalidStateError')
    this.userHandle = options.user!.id
    const clientData = this.#clientData('webauthn.create', options, lies)
    const idLength = Buffer.alloc(2)
    idLength.writeUInt16BE(this.id.length)
    const attested = Buffer.concat([Buffer.alloc(16), idLength, this.id, encode(this.#publicKey)])
    const authData = Buffer.concat([this.#authenticatorData(lies.rpId ?? options.rp!.id, lies, 0x40), attested])
    const statement = new Map<string, Cbor>()
    if (lies.selfAttested) {
      const signature = sign(
        this.#key.asymmetricKeyType === 'ed25519' ? null : 'sha256',
        Buffer.concat([authData, sha256(clientData)]),
        this.#key,
      )
      if (lies.tamper?.attestation === 'statement') signature[signature.length - 1]! ^= 1
      statement.set('alg', -7).set('sig', signature)
    } else if (lies.certified) {
      const { cert, key } = selfSigned('authenticator.example')
      const rpIdHash = authData.subarray(0, 32)
      const [x, y] = [-2, -3].map((member) => this.#publicKey.get(member) as Uint8Array)
      const signed = Buffer.concat([Buffer.of(0), rpIdHash, sha256(clientData), this.id, Buffer.of(4), x!, y!])
      statement.set('sig', sign('sha256', signed, key)).set('x5c', [new X509Certificate(cert).raw])
    } else if (lies.tamper?.attestation === 'statement') statement.set('sig', randomBytes(70))
    const format = lies.certified ? 'fido-u2f' : lies.selfAttested ? 'packed' : 'none'
    const object = encode(
      new Map<string, Cbor>([
        ['fmt', format],
        ['attStmt', statement],
        ['authData', authData],
      ]),
    )
    if (lies.tamper?.attestation === 'point') object[object.length - 1]! ^= 1
    const sent = lies.tamper?.attestation === 'bytes' ? object.subarray(0, object.length - 7) : object
    return {
      ...this.#credential(lies),
      response: {
        clientDataJSON: base64url(clientData),
        attestationObject: base64url(sent),
        transports: ['internal', 'hybrid'],
      },
    }
  }

  get(options: Options, lies: Lies = {}) {
    if (options.allowCredentials?.length && !options.allowCredentials.some(({ id }) => id === this.credentialId)) {
      throw new Error('NotAllowedError')
    }
    const clientData = this.#clientData('webauthn.get', options, lies)
    if (lies.counter === undefined && this.counter > 0) this.counter++
    const authenticatorData = this.#authenticatorData(lies.rpId ?? options.rpId!, lies)
    const signature = sign(
      this.#key.asymmetricKeyType === 'ed25519' ? null : 'sha256',
      Buffer.concat([authenticatorData, sha256(clientData)]),
      this.#key,
    )
    if (lies.tamper?.signature) signature[signature.length - 1]! ^= 1
    if (lies.tamper?.authenticatorData) authenticatorData[36]! ^= 64
    const userHandle = lies.userHandle === undefined ? this.userHandle : lies.userHandle
    return {
      ...this.#credential(lies),
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authenticatorData),
        signature: base64url(signature),
        ...(userHandle === null ? {} : { userHandle }),
      },
    }
  }

  #credential(lies: Lies) {
    const id = lies.credentialId ?? this.credentialId
    return { id, rawId: id, type: 'public-key', authenticatorAttachment: 'platform', clientExtensionResults: {} }
  }

  #clientData(type: string, { challenge }: Options, lies: Lies): Buffer {
    const { origin = this.#origin, crossOrigin = false, topOrigin } = lies
    const data = { type: lies.type ?? type, challenge: lies.challenge ?? challenge, origin, crossOrigin, topOrigin }
    return Buffer.from(JSON.stringify(data))
  }

  /** Section 6.1: the hash of the domain, one byte of flags, and the counter. */
  #authenticatorData(rpId: string, lies: Lies, extraFlags = 0): Buffer {
    const { up, uv, be, bs } = { ...this.#flags, ...lies.flags }
    const flags = (up ? 1 : 0) | (uv ? 4 : 0) | (be ? 8 : 0) | (bs ? 16 : 0) | extraFlags
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(lies.counter ?? this.counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter])
  }
}

/** RFC 8949: the few types that authenticators use. */
function encode(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(encode)])
  const parts = [...value].flatMap(([key, one]) => [encode(key), encode(one)])
  return Buffer.concat([head(5, value.size), ...parts])
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  const bytes = Buffer.from([(major << 5) | 25, 0, 0])
  bytes.writeUInt16BE(length, 1)
  return bytes
}
