/** Credentials of the stack at providers: the documents that they are written with (contract 9.3). */
import type { FieldError } from './envelope.ts'
import { Faults, isObject, unknownReason } from './faults.ts'
import { type ProviderName, providerNamed } from './providers.ts'

/** The one kind of credential that each provider takes. */
const credentialKinds = {
  google: 'oauth_client_secret',
  apple: 'signing_key',
  microsoft: 'oauth_client_secret',
  github: 'oauth_client_secret',
  email: 'sender_secret',
  phone: 'sender_secret',
} as const satisfies Record<ProviderName, string>

/** Characters of a secret: a P-256 key has 250 in PEM, and client secrets have fewer than 200. */
const longestSecret = 4_096

/** The secret of a credential document. */
export type CredentialDocument =
  | { kind: 'oauth_client_secret'; client_secret: string }
  | { kind: 'signing_key'; team_id: string; key_id: string; private_key: string }
  | { kind: 'sender_secret'; secret: string }

/** Fields of each kind beside `provider` and `kind`. */
const credentialFields: Record<CredentialDocument['kind'], readonly string[]> = {
  oauth_client_secret: ['client_secret'],
  signing_key: ['team_id', 'key_id', 'private_key'],
  sender_secret: ['secret'],
}

/** Checks the document that a credential is written with. Whether `private_key` is a key is not decided here. */
export function readCredential(
  provider: ProviderName,
  json: unknown,
): { credential: CredentialDocument; faults: FieldError[] } {
  const faults = new Faults()
  const kind = credentialKinds[provider]
  const known = ['provider', 'kind', ...credentialFields[kind]]
  const document = isObject(json) ? json : {}
  if (!isObject(json)) faults.add([], 'the credential must be an object')
  const { provider: named, kind: given } = document
  if (typeof named !== 'string' || providerNamed(named) !== provider) faults.add(['provider'], `must be "${provider}"`)
  if (given !== kind) faults.add(['kind'], `must be "${kind}": "${provider}" takes no other kind`)
  for (const name of Object.keys(document)) {
    if (faults.isFull) break
    if (!known.includes(name)) faults.add([name], unknownReason(name, known))
  }
  for (const name of credentialFields[kind]) {
    const reason = secretFault(name, document[name])
    if (reason) faults.add([name], reason)
  }
  const fields = Object.fromEntries(credentialFields[kind].map((name) => [name, document[name]]))
  return { credential: { kind, ...fields } as CredentialDocument, faults: faults.list }
}

function secretFault(name: string, value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'must be a text that is not empty'
  if (name === 'team_id' || name === 'key_id') {
    return /^[A-Za-z0-9]{1,32}$/.test(value) ? undefined : 'must be 1 to 32 letters and digits'
  }
  if (value.length > longestSecret) return `may have ${longestSecret} characters`
  if (name === 'private_key') return undefined
  if (!value.isWellFormed() || /\p{Cc}/u.test(value)) return 'holds a control character: it must be one line'
  if (value.trim() !== value) return 'begins or ends with white space'
  return undefined
}
