/** The seventeen verbs that administer the auth module of a stack (source, "Management routes"). */
import { Option } from 'commander'
import { audit, mfa, providers, sessions, settings, templates } from '../../src/wire/operations.ts'
import { type HttpVerb, httpVerb } from '../shared/http-verb.ts'
import { type Group, targetFlags, type Verb, yesFlag } from '../shared/verb.ts'
import { refreshArtifacts } from './artifacts.ts'
import type { ClearFlags, ConfigureFlags } from './provider-config.ts'
import type { SettingsFlags } from './settings.ts'

const user = { '<user_id>': 'the id of the user, like usr_01ja…' }
const template = { '<key>': 'the key of the template, as `stack auth templates list` shows it' }
const provider = { '<name>': 'the provider: google, apple, microsoft, github, email or phone' }

const page = [
  ['--limit <number>', 'limit', 'entries of a page (default: the stack decides)'],
  ['--cursor <cursor>', 'cursor', 'continue after a page: its next_cursor'],
] as const

const rows: HttpVerb[] = [
  {
    name: 'auth settings get',
    summary: 'print the settings document',
    operation: settings.read,
    examples: ['stack auth settings get', 'stack auth settings get --env staging'],
  },
  {
    name: 'auth providers list',
    summary: 'list the providers of sign-in with their clients and problems',
    operation: providers.list,
    examples: ['stack auth providers list', 'stack auth providers list --env staging'],
  },
  {
    name: 'auth providers enable',
    summary: 'open a provider for sign-in',
    positionals: provider,
    operation: providers.setEnabled,
    body: { enabled: true },
    after: refreshArtifacts,
    examples: ['stack auth providers enable google'],
  },
  {
    name: 'auth providers disable',
    summary: 'close a provider for sign-in, and keep its clients',
    positionals: provider,
    operation: providers.setEnabled,
    body: { enabled: false },
    after: refreshArtifacts,
    examples: ['stack auth providers disable google'],
  },
  {
    name: 'auth sessions list',
    summary: 'list sessions, the newest first',
    operation: sessions.listAll,
    query: [
      ...page,
      ['--user <user_id>', 'user_id', 'sessions of one user alone'],
      ['--status <status>', 'status', 'active, ended or expired'],
      ['--ip <address>', 'ip', 'sessions of one address alone'],
    ],
    examples: ['stack auth sessions list', 'stack auth sessions list --user usr_01ja --status active'],
  },
  {
    name: 'auth sessions revoke',
    summary: 'end one session',
    positionals: { '<session_id>': 'the id of the session, like ses_01ja…' },
    operation: sessions.revoke,
    destroys: (session) => `end the session ${session}`,
    examples: ['stack auth sessions revoke ses_01ja'],
  },
  {
    name: 'auth sessions revoke-all',
    summary: 'end every session of a user',
    positionals: user,
    operation: sessions.revokeAll,
    destroys: (id) => `end EVERY session of ${id}`,
    examples: ['stack auth sessions revoke-all usr_01ja'],
  },
  {
    name: 'auth audit',
    summary: 'list the audit trail, the newest entry first',
    operation: audit.list,
    query: [
      ...page,
      ['--event-type <type>', 'event_type', 'one kind of event, like user.signed_in'],
      ['--actor <id>', 'actor_id', 'acts of one user or operator'],
      ['--target <id>', 'target_id', 'acts on one user, session or provider'],
      ['--outcome <outcome>', 'outcome', 'success or failure'],
      ['--ip <address>', 'ip', 'acts from one address'],
      ['--from <time>', 'from', 'acts at this time or later, in RFC 3339 like 2026-11-22T00:00:00Z'],
      ['--to <time>', 'to', 'acts before this time'],
    ],
    examples: ['stack auth audit --limit 50 --event-type user.signed_in', 'stack auth audit --cursor "$next_cursor"'],
  },
  {
    name: 'auth templates list',
    summary: 'list the templates of mail and messages',
    operation: templates.list,
    examples: ['stack auth templates list'],
  },
  {
    name: 'auth templates get',
    summary: 'print a template with its variables and its default',
    positionals: template,
    operation: templates.read,
    examples: ['stack auth templates get confirm_email'],
  },
  {
    name: 'auth templates set',
    summary: 'replace the text of a template',
    positionals: template,
    operation: templates.replace,
    payload: ['--json', 'the document { "subject", "body" }, as text, @file or - for standard input'],
    examples: ['stack auth templates set confirm_email --json @confirm.json'],
  },
  {
    name: 'auth templates send-test',
    summary: 'send ONE real message with the example values of a template',
    positionals: template,
    operation: templates.sendTest,
    payload: ['--json', 'the document { "to" } with the recipient, as text, @file or - for standard input'],
    examples: [`stack auth templates send-test confirm_email --json '{"to":"me@shop.example"}'`],
  },
  {
    name: 'auth mfa get',
    summary: "print a user's second factors",
    positionals: user,
    operation: mfa.readOf,
    examples: ['stack auth mfa get usr_01ja'],
  },
  {
    name: 'auth mfa reset',
    summary: "remove a user's second factors, so that the user can enrol again",
    positionals: user,
    operation: mfa.reset,
    destroys: (id) => `remove every second factor of ${id}`,
    examples: ['stack auth mfa reset usr_01ja'],
  },
]

/** Verbs that read before they write. */
const readers: Verb[] = [
  {
    name: 'auth settings set',
    summary: 'change single settings, or replace the whole document',
    options: [
      ...targetFlags(),
      new Option('--json <document>', 'the document, as text, @file or -. Alone it replaces the whole document'),
      new Option('--password-min <int>', 'password_min_length: shortest accepted password'),
      new Option('--password-max <int>', 'password_max_length: longest accepted password'),
      new Option('--confirm-email <bool>', 'confirm_email_required: no session before the address is confirmed'),
      new Option('--site-url <url>', 'site_url: the address that links in mail point at'),
    ],
    examples: [
      'stack auth settings set --confirm-email=true --site-url https://shop.example',
      'stack auth settings set --json @settings.json',
    ],
    run: async (flags: SettingsFlags) => (await import('./settings.ts')).runSet(flags),
  },
  {
    name: 'auth providers config set',
    positionals: provider,
    summary: "write a provider's clients, or one of its credentials",
    options: [
      ...targetFlags(),
      new Option('--json <document>', 'the configuration, as text, @file or -. A secret comes by @file or - alone'),
      new Option('--credential <name>', 'write this server credential, and replace it whole'),
    ],
    examples: [
      'stack auth providers config set google --json @google.json',
      'stack auth providers config set google --credential main --json - < secret.json',
    ],
    run: async (flags: ConfigureFlags, name) => (await import('./provider-config.ts')).runConfigure(flags, name!),
  },
  {
    name: 'auth providers config clear',
    positionals: provider,
    summary: "remove a provider's clients and close it",
    options: [
      ...targetFlags(),
      new Option('--credential <name>', 'remove this server credential too, unless something refers to it'),
      yesFlag(),
    ],
    examples: [
      'stack auth providers config clear google',
      'stack auth providers config clear google --credential main',
    ],
    run: async (flags: ClearFlags, name) => (await import('./provider-config.ts')).runClear(flags, name!),
  },
]

/** In the order of the table in the source. */
const order = [
  'settings get',
  'settings set',
  'providers list',
  'providers enable',
  'providers disable',
  'providers config set',
  'providers config clear',
  'sessions list',
  'sessions revoke',
  'sessions revoke-all',
  'audit',
  'templates list',
  'templates get',
  'templates set',
  'templates send-test',
  'mfa get',
  'mfa reset',
].map((name) => `auth ${name}`)

export const auth: Group = {
  summaries: {
    auth: 'administer sign-in, sessions, templates and the audit trail of a stack',
    'auth settings': 'read and write the settings document',
    'auth providers': 'list, open, close and configure the providers of sign-in',
    'auth providers config': "write and clear a provider's clients and credentials",
    'auth sessions': 'list and end sessions',
    'auth templates': 'read, write and try the templates of mail and messages',
    'auth mfa': "read and remove a user's second factors",
  },
  verbs: [...rows.map((row) => httpVerb(row, targetFlags)), ...readers].sort(
    (one, other) => order.indexOf(one.name) - order.indexOf(other.name),
  ),
}
