/** A provider of sign-ins on loopback, in the dialect of each of the four: real keys, real signatures, and every answer can be changed. */
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt, decodeProtectedHeader, importSPKI, jwtVerify } from 'jose'

export type Dialect = 'google' | 'apple' | 'microsoft' | 'github'

export interface IdToken {
  header: Record<string, unknown>
  claims: Record<string, unknown>
}

/** Changes what the issuer answers. Each one is for the next flows, until `reset`. */
export interface Tampering {
  /** Changes header and claims before they are signed. */
  idToken?: (token: IdToken) => void
  /** Changes the token after it was signed. */
  signed?: (jwt: string) => string
  /** Changes the body of the token endpoint. */
  tokenBody?: (body: Record<string, unknown>) => void
  /** Answers instead of an endpoint, by its path's last part: `token`, `keys`, `user`, `emails`, `metadata`. */
  answer?: Partial<Record<string, (response: http.ServerResponse) => void>>
  /** Changes the metadata. */
  metadata?: (body: Record<string, unknown>) => void
  /** Changes the key set. */
  keys?: (keys: Record<string, unknown>[]) => void
  /** Changes what GitHub's API tells. */
  account?: (account: Record<string, unknown>, emails: Record<string, unknown>[]) => void
}

/** The person who signs in. */
export interface MockPerson {
  sub: string
  email?: string
  verified?: boolean
  name?: string
  /** Further claims of the ID token. */
  claims?: Record<string, unknown>
}

interface Issued {
  clientId: string
  redirectUri: string
  challenge: string
  nonce: string | null
  person: MockPerson
}

interface Key {
  kid: string
  alg: 'RS256' | 'ES256'
  private: KeyObject
  public: Record<string, unknown>
}

function newKey(alg: Key['alg']): Key {
  const pair =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kid = randomBytes(8).toString('hex')
  const jwk = pair.publicKey.export({ format: 'jwk' }) as Record<string, unknown>
  return { kid, alg, private: pair.privateKey, public: { ...jwk, kid, alg, use: 'sig' } }
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs as the header's `alg` says, also with `none` and HS256. */
export function signJwt({ header, claims }: IdToken, key: KeyObject, secret = ''): string {
  const input = `${base64url(header)}.${base64url(claims)}`
  const bytes = Buffer.from(input)
  if (header['alg'] === 'none') return `${input}.`
  if (header['alg'] === 'HS256') return `${input}.${createHmac('sha256', secret).update(bytes).digest('base64url')}`
  const dsaEncoding = 'ieee-p1363' as const
  return `${input}.${sign('sha256', bytes, { key, dsaEncoding }).toString('base64url')}`
}

export class MockIssuer {
  readonly dialect: Dialect
  /** Set by the test: who signs in next. */
  person: MockPerson = { sub: 'person-1' }
  tampering: Tampering = {}
  /** The secret of the client, or for Apple the public key that its secrets must verify under. */
  clientSecret = 'mock-client-secret'
  applePublicKey = ''
  /** The tenant that tokens of the `microsoft` dialect are of. */
  tenant = '11111111-2222-3333-4444-555555555555'
  readonly #keys: Key[]
  readonly #codes = new Map<string, Issued>()
  readonly #tokens = new Map<string, MockPerson>()
  readonly #requests: string[] = []
  readonly #server = http.createServer((request, response) => {
    response.on('error', () => {})
    this.#serve(request, response).catch((error: Error) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: 'server_error', error_description: error.message }))
    })
  })

  constructor(dialect: Dialect, alg: Key['alg'] = 'RS256') {
    this.dialect = dialect
    this.#keys = [newKey(alg)]
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this.issuer
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** As the binding `OAUTH_<PROVIDER>_ISSUER` has it. */
  get issuer(): string {
    return this.dialect === 'github' ? `${this.origin}/login/oauth` : this.origin
  }

  get key(): Key {
    return this.#keys[0]!
  }

  /** A new key signs. The old one stays published, unless it is dropped. */
  rotate(isOldDropped = false): void {
    const next = newKey(this.key.alg)
    this.#keys.splice(0, isOldDropped ? this.#keys.length : 0, next)
  }

  reset(): void {
    this.tampering = {}
  }

  /** How often an endpoint was asked, by the end of its path. */
  requests(end: string): number {
    return this.#requests.filter((path) => path.endsWith(end)).length
  }

  /**
   * What the browser does at the provider: opens the address, signs in, and is sent back.
   * @returns the parameters of the answer. The caller brings them to the stack, by GET or, for Apple, by POST.
   */
  signIn(address: string, person: MockPerson = this.person): { redirectUri: string; answer: URLSearchParams } {
    const { origin, pathname, searchParams } = new URL(address)
    if (origin !== this.origin || !pathname.endsWith('/authorize'))
      throw new Error(`no authorization endpoint: ${address}`)
    const get = (name: string) => searchParams.get(name) ?? ''
    if (get('response_type') !== 'code' || get('code_challenge_method') !== 'S256') throw new Error('no code with PKCE')
    if (this.dialect === 'apple' && get('response_mode') !== 'form_post') throw new Error('Apple posts its answers')
    if (this.dialect !== 'github' && get('nonce') === '') throw new Error('no nonce')
    const code = randomBytes(16).toString('hex')
    const [clientId, redirectUri, challenge] = [get('client_id'), get('redirect_uri'), get('code_challenge')]
    this.#codes.set(code, { clientId, redirectUri, challenge, nonce: searchParams.get('nonce'), person })
    return { redirectUri, answer: new URLSearchParams({ code, state: get('state') }) }
  }

  /** An ID token as the provider's library gives it to a native application. */
  idToken(audience: string, nonce: string | null, person: MockPerson = this.person, more: object = {}): string {
    const now = Math.floor(Date.now() / 1000)
    const isMicrosoft = this.dialect === 'microsoft'
    const token: IdToken = {
      header: { alg: this.key.alg, kid: this.key.kid, typ: 'JWT' },
      claims: {
        iss: isMicrosoft ? `${this.origin}/${this.tenant}/v2.0` : this.origin,
        ...(isMicrosoft ? { tid: this.tenant } : {}),
        sub: person.sub,
        aud: audience,
        iat: now,
        exp: now + 3_600,
        ...(nonce === null ? {} : { nonce }),
        ...(person.email === undefined ? {} : { email: person.email }),
        ...(person.email === undefined || isMicrosoft ? {} : { email_verified: person.verified ?? true }),
        ...(isMicrosoft && person.verified ? { xms_edov: true } : {}),
        ...(person.name === undefined || this.dialect === 'apple' ? {} : { name: person.name }),
        ...person.claims,
        ...more,
      },
    }
    this.tampering.idToken?.(token)
    const jwt = signJwt(token, this.key.private, this.clientSecret)
    return this.tampering.signed?.(jwt) ?? jwt
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', this.origin).pathname
    this.#requests.push(path)
    const name = /openid-configuration$/.test(path) ? 'metadata' : path.split('/').at(-1)!
    const answer = this.tampering.answer?.[name === 'access_token' ? 'token' : name]
    if (answer) return answer(response)
    if (name === 'authorize') {
      // a browser's person signs in without a word
      const { redirectUri, answer: parameters } = this.signIn(`${this.origin}${request.url}`)
      return void response.writeHead(302, { location: `${redirectUri}?${parameters}` }).end()
    }
    const body = await this.#answer(name, path, request)
    response.writeHead(body.status ?? 200, { 'content-type': 'application/json' }).end(JSON.stringify(body.json))
  }

  async #answer(
    name: string,
    path: string,
    request: http.IncomingMessage,
  ): Promise<{ status?: number; json: unknown }> {
    if (name === 'metadata') return { json: this.#metadata(path) }
    if (name === 'keys') {
      const keys = this.#keys.map((key) => ({ ...key.public }))
      this.tampering.keys?.(keys)
      return { json: { keys } }
    }
    if (name === 'token' || name === 'access_token') return this.#token(request)
    if (name === 'user' || name === 'emails') return this.#api(name, request)
    return { status: 404, json: { error: 'not_found' } }
  }

  #metadata(path: string): Record<string, unknown> {
    const directory = /^\/([^/]+)\/v2\.0\//.exec(path)?.[1]
    const isTemplate = directory === 'common' || directory === 'organizations'
    const isId = /^[0-9a-f-]{36}$/.test(directory ?? '')
    const tenant = directory === 'consumers' ? '9188040d-6c67-4c5b-b112-36a304b66dad' : isId ? directory : this.tenant
    const issuer = directory === undefined ? this.origin : `${this.origin}/${isTemplate ? '{tenantid}' : tenant}/v2.0`
    const body = {
      issuer,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      jwks_uri: `${this.origin}/keys`,
      id_token_signing_alg_values_supported: [this.key.alg],
    }
    this.tampering.metadata?.(body)
    return body
  }

  async #token(request: http.IncomingMessage): Promise<{ status?: number; json: unknown }> {
    const refuse = (error: string, why: string) => {
      // GitHub answers its errors with 200
      const status = this.dialect === 'github' ? 200 : 400
      return { status, json: { error, error_description: why } }
    }
    const form = new URLSearchParams(await textOf(request))
    const issued = this.#codes.get(form.get('code') ?? '')
    this.#codes.delete(form.get('code') ?? '')
    if (form.get('grant_type') !== 'authorization_code' || !issued) return refuse('invalid_grant', 'unknown code')
    if (form.get('redirect_uri') !== issued.redirectUri) return refuse('invalid_grant', 'another redirect_uri')
    if (form.get('client_id') !== issued.clientId) return refuse('invalid_client', 'another client')
    const verifier = form.get('code_verifier') ?? ''
    if (createHash('sha256').update(verifier).digest('base64url') !== issued.challenge) {
      return refuse('invalid_grant', 'wrong verifier')
    }
    const fault = await this.#secretFault(form.get('client_secret') ?? '', issued.clientId)
    if (fault) return refuse('invalid_client', fault)
    const accessToken = randomBytes(16).toString('hex')
    this.#tokens.set(accessToken, issued.person)
    const body: Record<string, unknown> = { access_token: accessToken, token_type: 'bearer', expires_in: 3_600 }
    if (this.dialect !== 'github') body['id_token'] = this.idToken(issued.clientId, issued.nonce, issued.person)
    this.tampering.tokenBody?.(body)
    return { json: body }
  }

  /** Apple's secrets are JWTs of at most six months. Every other one is a text. */
  async #secretFault(secret: string, clientId: string): Promise<string | undefined> {
    if (this.dialect !== 'apple') return secret === this.clientSecret ? undefined : 'wrong client secret'
    const { payload } = await jwtVerify(secret, await importSPKI(this.applePublicKey, 'ES256'), {
      audience: this.origin,
    })
    const { kid } = decodeProtectedHeader(secret)
    const { iat = 0, exp = 0 } = decodeJwt(secret)
    if (payload.iss !== 'TEAM123456' || kid !== 'KEY1234567' || payload.sub !== clientId) return 'another team or key'
    return exp - iat <= 300 ? undefined : 'a secret that outlives its call'
  }

  #api(name: 'user' | 'emails', request: http.IncomingMessage): { status?: number; json: unknown } {
    const person = this.#tokens.get(/^Bearer (\w+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '')
    if (!person || !request.headers['user-agent']) return { status: 401, json: { message: 'Bad credentials' } }
    const account = {
      id: Number(person.sub),
      login: `login-${person.sub}`,
      name: person.name ?? null,
      avatar_url: null,
    }
    const emails =
      person.email === undefined
        ? []
        : [
            { email: `other-${person.email}`, primary: false, verified: true, visibility: null },
            { email: person.email, primary: true, verified: person.verified ?? true, visibility: 'public' },
          ]
    this.tampering.account?.(account, emails)
    return { json: name === 'user' ? account : emails }
  }
}

async function textOf(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
