/** Provider records for tests, written as the management routes store them, and the steps of a sign-in as an application takes them. */
import { createCipheriv, createHash, generateKeyPairSync, hkdfSync, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { type Dialect, MockIssuer, type MockPerson } from './mock-issuer.ts'
import type { Answer, TestStack } from './stack.ts'

export interface ClientRow {
  key: string
  kind?: 'browser' | 'native'
  platform?: 'web' | 'ios' | 'android'
  fields: Record<string, unknown>
}

export const returnUri = 'https://app.example/signed-in'

const browserFields: Record<Dialect, Record<string, unknown>> = {
  google: { web_client_id: 'google-web' },
  apple: { services_id: 'com.example.web' },
  microsoft: { application_id: 'microsoft-app', directory: 'common' },
  github: { web_client_id: 'github-web' },
}

/** Seals as `src/auth/shared/seal.ts` does, with the sealing key of the stack. */
function seal(stack: TestStack, text: string, place: string): string {
  const { sealing_key } = JSON.parse(fs.readFileSync(path.join(stack.root, '.stack/keys.json'), 'utf8'))
  const key = Buffer.from(hkdfSync('sha256', sealing_key, Buffer.alloc(32), 'stack sealing', 32))
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place))
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

export async function putCredential(stack: TestStack, provider: string, name: string, secret: object): Promise<void> {
  const { kind } = secret as { kind: string }
  await stack.sql(
    `insert into auth.provider_credentials (provider, name, kind, sealed, fingerprint) values ($1, $2, $3, $4, '0123456789abcdef')
      on conflict (provider, name) do update set sealed = excluded.sealed, kind = excluded.kind`,
    [provider, name, kind, seal(stack, JSON.stringify(secret), `provider credential ${provider} ${name}`)],
  )
}

export async function putClient(stack: TestStack, provider: string, client: ClientRow): Promise<void> {
  const { key, kind = 'browser', platform = 'web', fields } = client
  await stack.sql(
    `insert into auth.provider_clients (provider, key, kind, platform, enabled, application_key, variant, credential_ref, fields, position)
      values ($1, $2, $3, $4, true, 'shop', 'release', $5, $6, 0)
      on conflict (provider, key) do update set enabled = true, fields = excluded.fields`,
    [provider, key, kind, platform, kind === 'browser' ? key : null, JSON.stringify(fields)],
  )
}

/** Enables a provider with a browser client `web` and its credential, as the issuer wants them. */
export async function enable(stack: TestStack, issuer: MockIssuer, fields: Record<string, unknown> = {}) {
  const { dialect } = issuer
  await stack.sql('update auth.providers set enabled = true where name = $1', [dialect])
  await putClient(stack, dialect, {
    key: 'web',
    fields: { ...browserFields[dialect], return_uris: [returnUri], ...fields },
  })
  if (dialect !== 'apple') {
    return putCredential(stack, dialect, 'web', { kind: 'oauth_client_secret', client_secret: issuer.clientSecret })
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  issuer.applePublicKey = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  await putCredential(stack, 'apple', 'web', {
    kind: 'signing_key',
    team_id: 'TEAM123456',
    key_id: 'KEY1234567',
    private_key,
  })
}

/** One issuer of each dialect. `bindings` starts them and tells the auth worker where they are. */
export function mockIssuers() {
  const issuers = {
    google: new MockIssuer('google'),
    apple: new MockIssuer('apple', 'ES256'),
    microsoft: new MockIssuer('microsoft'),
    github: new MockIssuer('github'),
  }
  return {
    ...issuers,
    all: Object.values(issuers),
    async bindings(): Promise<Record<string, string>> {
      const pairs = Object.entries(issuers).map(async ([name, issuer]) => {
        await issuer.listen()
        return [`OAUTH_${name.toUpperCase()}_ISSUER`, issuer.issuer] as const
      })
      return Object.fromEntries(await Promise.all(pairs))
    },
    async close(): Promise<void> {
      await Promise.all(Object.values(issuers).map((issuer) => issuer.close()))
    },
  }
}

export const newVerifier = (): string => randomBytes(32).toString('base64url')
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

export function startPath(provider: string, verifier: string, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    client_key: 'web',
    redirect_to: returnUri,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    ...more,
  })
  return `/auth/oauth/${provider}/start?${query}`
}

/** Brings the provider's answer to the stack as a browser does. */
export function callback(stack: TestStack, dialect: Dialect, answer: URLSearchParams): Promise<Answer> {
  const address = `/auth/oauth/${dialect}/callback`
  if (dialect !== 'apple') return stack.call(`${address}?${answer}`)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://appleid.apple.com' }
  return stack.call(address, { body: answer.toString(), headers })
}

/** Start and sign-in at the provider. @returns the callback's answer and the parameters that it gave to the application. */
export async function arrive(
  stack: TestStack,
  issuer: MockIssuer,
  options: {
    person?: MockPerson
    verifier?: string
    edit?: (answer: URLSearchParams) => void
    more?: Record<string, string>
  } = {},
) {
  const verifier = options.verifier ?? newVerifier()
  const started = await stack.call(startPath(issuer.dialect, verifier, options.more))
  if (started.status !== 302) throw new Error(`start answered ${started.status}: ${started.text}`)
  const { answer } = issuer.signIn(started.headers.get('location')!, options.person)
  options.edit?.(answer)
  const called = await callback(stack, issuer.dialect, answer)
  const location = called.headers.get('location')
  return { verifier, answer, called, back: location === null ? undefined : new URL(location).searchParams }
}

/** A whole sign-in. @returns the answer of the exchange. */
export async function signInWith(
  stack: TestStack,
  issuer: MockIssuer,
  options: Parameters<typeof arrive>[2] & { token?: string } = {},
): Promise<Answer> {
  const { back, verifier, called } = await arrive(stack, issuer, options)
  const code = back?.get('code')
  if (!code) throw new Error(`the callback answered ${called.status} ${called.headers.get('location')} ${called.text}`)
  const { token } = options
  return stack.call('/auth/oauth/exchange', { json: { code, code_verifier: verifier }, ...(token ? { token } : {}) })
}
