/**
 * The requests of the seventeen verbs of `stack auth`, written from the table "Management routes" of the documented surface and not
 * from any code: the tests of the auth module and of the command line share this data.
 */

/** What a command reads before its call, and an answer that a stack gives to it. */
export interface FirstRead {
  /** Below `/v1/management/auth`. */
  path: string
  /** Headers of the answer. */
  headers: Record<string, string>
  body: object
}

export interface Verb {
  /** The words of the command: `auth settings get`. */
  words: string
  positionals: readonly string[]
  /** As they are typed, each flag before its value. */
  flags: readonly string[]
  /** Standard input, where a flag's value is `-`. */
  stdin?: string
  /** Absent: the command sends one request. */
  reads?: FirstRead
  method: string
  /** Below `/v1/management/auth`, with its query. */
  path: string
  /** Beside the credential. `if-match` has the entity tag of `reads`. */
  headers: Record<string, string>
  /** The body as JSON. Absent: the request has none. */
  body?: unknown
  /** The documented answer of a stack that has the user and the session of this file. */
  status: number
  /** Members of the documented answer. */
  answer: readonly string[]
}

/** A user and a session that a test makes before it sends the requests. */
export const verbUser = 'usr_of_verbs'
export const verbSession = 'ses_of_verbs'
export const verbRecipient = 'verbs@example.com'

const json = { 'content-type': 'application/json' }

const list = ['data', 'has_more', 'next_cursor']
const provider = ['name', 'kind', 'enabled', 'state', 'etag', 'browser_clients', 'native_clients', 'problems']
const session = ['id', 'user_id', 'status', 'created_at', 'ended_at', 'end_reason']
const template = ['key', 'channel', 'subject', 'body', 'customised', 'variables', 'etag', 'default']

/** Contract 9.2: the list of providers carries the entity tag of each. */
const readsGoogle: FirstRead = {
  path: '/providers',
  headers: {},
  body: {
    data: [
      { name: 'google', kind: 'oauth', enabled: false, etag: '"4"' },
      { name: 'apple', kind: 'oauth', enabled: false, etag: '"1"' },
    ],
    has_more: false,
    next_cursor: null,
  },
}

const stored = { password_min_length: 10, site_url: 'https://shop.example' }
const readsSettings: FirstRead = { path: '/settings', headers: { etag: '"7"' }, body: stored }

const clients = {
  browser_clients: [
    {
      key: 'web',
      enabled: true,
      application_key: 'shop',
      platform: 'web',
      variant: 'release',
      web_client_id: 'web.apps.example',
      return_uris: ['https://shop.example/signed-in'],
    },
  ],
}
const secret = { provider: 'google', kind: 'oauth_client_secret', client_secret: 'a client secret' }
const texts = { subject: 'Welcome to {{site_name}}', body: '<p>{{code}} {{action_url}}</p>' }

export const verbs: readonly Verb[] = [
  {
    words: 'auth settings get',
    positionals: [],
    flags: [],
    method: 'GET',
    path: '/settings',
    headers: {},
    status: 200,
    answer: [],
  },
  {
    // `--json` alone reads nothing, and sends no entity tag (contract 9.2)
    words: 'auth settings set',
    positionals: [],
    flags: ['--json', '{"password_min_length":12}'],
    method: 'PUT',
    path: '/settings',
    headers: json,
    body: { password_min_length: 12 },
    status: 200,
    answer: ['password_min_length', 'ignored_fields'],
  },
  {
    words: 'auth settings set',
    positionals: [],
    flags: [
      '--password-min',
      '9',
      '--password-max',
      '60',
      '--confirm-email=true',
      '--site-url',
      'https://other.example',
    ],
    reads: readsSettings,
    method: 'PUT',
    path: '/settings',
    headers: { ...json, 'if-match': '"7"' },
    body: {
      password_min_length: 9,
      password_max_length: 60,
      confirm_email_required: true,
      site_url: 'https://other.example',
    },
    status: 200,
    answer: ['password_min_length', 'password_max_length', 'confirm_email_required', 'site_url', 'ignored_fields'],
  },
  {
    // the stored document, then `--json` over it, then the named flags
    words: 'auth settings set',
    positionals: [],
    flags: ['--json', '{"password_min_length":9,"site_name":"Shop"}', '--password-min', '11'],
    reads: readsSettings,
    method: 'PUT',
    path: '/settings',
    headers: { ...json, 'if-match': '"7"' },
    body: { password_min_length: 11, site_url: 'https://shop.example', site_name: 'Shop' },
    status: 200,
    answer: ['password_min_length', 'site_url', 'site_name', 'ignored_fields'],
  },
  {
    words: 'auth providers list',
    positionals: [],
    flags: [],
    method: 'GET',
    path: '/providers',
    headers: {},
    status: 200,
    answer: list,
  },
  {
    words: 'auth providers enable',
    positionals: ['google'],
    flags: [],
    method: 'POST',
    path: '/providers/google',
    headers: json,
    body: { enabled: true },
    status: 200,
    answer: provider,
  },
  {
    words: 'auth providers disable',
    positionals: ['google'],
    flags: [],
    method: 'POST',
    path: '/providers/google',
    headers: json,
    body: { enabled: false },
    status: 200,
    answer: provider,
  },
  {
    words: 'auth providers config set',
    positionals: ['google'],
    flags: ['--json', JSON.stringify(clients)],
    reads: readsGoogle,
    method: 'PUT',
    path: '/providers/google/config',
    headers: { ...json, 'if-match': '"4"' },
    body: clients,
    status: 200,
    answer: provider,
  },
  {
    // secrets come from a file or from standard input (contract 9.3 names the route)
    words: 'auth providers config set',
    positionals: ['google'],
    flags: ['--credential', 'web', '--json', '-'],
    stdin: JSON.stringify(secret),
    reads: readsGoogle,
    method: 'PUT',
    path: '/providers/google/credentials/web',
    headers: { ...json, 'if-match': '"4"' },
    body: secret,
    status: 200,
    answer: ['provider', 'name', 'kind', 'fingerprint', 'referenced_by'],
  },
  {
    words: 'auth providers config clear',
    positionals: ['google'],
    flags: [],
    reads: readsGoogle,
    method: 'DELETE',
    path: '/providers/google/config',
    headers: { 'if-match': '"4"' },
    status: 200,
    answer: provider,
  },
  {
    words: 'auth providers config clear',
    positionals: ['google'],
    flags: ['--credential', 'web'],
    reads: readsGoogle,
    method: 'DELETE',
    path: '/providers/google/config?credential=web',
    headers: { 'if-match': '"4"' },
    status: 200,
    answer: [...provider, 'credential'],
  },
  {
    words: 'auth sessions list',
    positionals: [],
    flags: [],
    method: 'GET',
    path: '/sessions',
    headers: {},
    status: 200,
    answer: list,
  },
  {
    words: 'auth sessions revoke',
    positionals: [verbSession],
    flags: [],
    method: 'DELETE',
    path: `/sessions/${verbSession}`,
    headers: {},
    status: 200,
    answer: session,
  },
  {
    words: 'auth sessions revoke-all',
    positionals: [verbUser],
    flags: [],
    method: 'POST',
    path: `/users/${verbUser}/sessions/revoke-all`,
    headers: {},
    status: 200,
    answer: ['user_id', 'ended'],
  },
  {
    words: 'auth audit',
    positionals: [],
    flags: [],
    method: 'GET',
    path: '/audit',
    headers: {},
    status: 200,
    answer: list,
  },
  {
    words: 'auth audit',
    positionals: [],
    flags: ['--limit', '20', '--event-type', 'session.*'],
    method: 'GET',
    path: '/audit?limit=20&event_type=session.*',
    headers: {},
    status: 200,
    answer: list,
  },
  {
    // sent only when it is greater than zero
    words: 'auth audit',
    positionals: [],
    flags: ['--limit', '0'],
    method: 'GET',
    path: '/audit',
    headers: {},
    status: 200,
    answer: list,
  },
  {
    // the value travels as it is typed; no stack has given this cursor
    words: 'auth audit',
    positionals: [],
    flags: ['--limit', '20', '--cursor', 'AbC_-9', '--event-type', 'role.assigned'],
    method: 'GET',
    path: '/audit?limit=20&cursor=AbC_-9&event_type=role.assigned',
    headers: {},
    status: 400,
    answer: ['error', 'error_description', 'status', 'request_id'],
  },
  {
    words: 'auth templates list',
    positionals: [],
    flags: [],
    method: 'GET',
    path: '/templates',
    headers: {},
    status: 200,
    answer: list,
  },
  {
    words: 'auth templates get',
    positionals: ['magic_link'],
    flags: [],
    method: 'GET',
    path: '/templates/magic_link',
    headers: {},
    status: 200,
    answer: template,
  },
  {
    words: 'auth templates set',
    positionals: ['confirm_email'],
    flags: ['--json', JSON.stringify(texts)],
    method: 'PUT',
    path: '/templates/confirm_email',
    headers: json,
    body: texts,
    status: 200,
    answer: template,
  },
  {
    words: 'auth templates send-test',
    positionals: ['confirm_email'],
    flags: ['--json', JSON.stringify({ to: verbRecipient })],
    method: 'POST',
    path: '/templates/confirm_email/send-test',
    headers: json,
    body: { to: verbRecipient },
    status: 202,
    answer: ['message_id', 'to', 'transport', 'status'],
  },
  {
    words: 'auth mfa get',
    positionals: [verbUser],
    flags: [],
    method: 'GET',
    path: `/users/${verbUser}/mfa`,
    headers: {},
    status: 200,
    answer: ['user_id', 'enrolled', 'factors', 'recovery_codes'],
  },
  {
    words: 'auth mfa reset',
    positionals: [verbUser],
    flags: [],
    method: 'DELETE',
    path: `/users/${verbUser}/mfa`,
    headers: {},
    status: 200,
    answer: ['user_id', 'removed', 'sessions_ended'],
  },
]
