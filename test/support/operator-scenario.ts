/**
 * What an operator does with `stack` in a first week: every verb of `stack auth`, roles, secrets and operators, against a stack that
 * answers. The transcript is docs/administration.md, where what differs from run to run stands as a placeholder.
 */
import { type CommandOptions, stack } from './command.ts'

/** A step: a sentence for the reader, the words of the command, and its standard input. */
export interface Step {
  why: string
  words: string[]
  input?: string
  /** Lines of the output that the transcript shows. Default: 12. */
  lines?: number
}

const google = JSON.stringify({
  browser_clients: [
    {
      key: 'web',
      enabled: true,
      application_key: 'shop',
      platform: 'web',
      variant: 'release',
      web_client_id: '123.apps.example',
      return_uris: ['https://shop.example/signed-in'],
    },
  ],
})
const googleSecret = JSON.stringify({
  provider: 'google',
  kind: 'oauth_client_secret',
  client_secret: 'the secret of the console',
})
const welcome = JSON.stringify({
  subject: 'Confirm your address at {{site_name}}',
  body: '<p>Your code is {{code}}, or open {{action_url}}</p>',
})

/** @param user a user who has signed in. @param session one of the user's sessions. */
export function scenario(user: string, session: string): Step[] {
  return [
    { why: 'See which stack the commands are about.', words: ['env'] },
    { why: 'Read the settings. A new stack has none, and the defaults apply.', words: ['auth', 'settings', 'get'] },
    {
      why: 'Change two of them. The command reads the document, merges and writes the whole.',
      words: ['auth', 'settings', 'set', '--password-min', '10', '--site-url', 'https://shop.example'],
    },
    {
      why: 'A value that the stack refuses changes nothing.',
      words: ['auth', 'settings', 'set', '--password-max', '200'],
    },
    {
      why: 'Store the secret of a provider. It comes from standard input.',
      words: ['auth', 'providers', 'config', 'set', 'google', '--credential', 'web', '--json', '-'],
      input: googleSecret,
    },
    {
      why: 'Configure the provider from a document.',
      words: ['auth', 'providers', 'config', 'set', 'google', '--json', '-'],
      input: google,
    },
    { why: 'Open it for sign-in.', words: ['auth', 'providers', 'enable', 'google'] },
    { why: 'A misspelled name draws a suggestion from the stack.', words: ['auth', 'providers', 'enable', 'googel'] },
    { why: 'List the providers.', words: ['auth', 'providers', 'list'], lines: 8 },
    { why: 'Close it again. Its clients stay.', words: ['auth', 'providers', 'disable', 'google'], lines: 6 },
    {
      why: 'Remove its clients and the secret.',
      words: ['auth', 'providers', 'config', 'clear', 'google', '--credential', 'web'],
      lines: 6,
    },
    {
      why: 'Declare a role, here and in stack/roles.json.',
      words: ['roles', 'create', 'editor', '--permissions', 'post.write,post.publish'],
    },
    { why: 'Grant it. This prints nothing.', words: ['roles', 'assign', user, 'editor'] },
    { why: 'See the roles of a user.', words: ['roles', 'of', user] },
    { why: 'A role that a user holds cannot be deleted.', words: ['roles', 'delete', 'editor'] },
    { why: 'Take it back, then delete it.', words: ['roles', 'revoke', user, 'editor'] },
    { why: 'Now it goes, from the stack and from the file.', words: ['roles', 'delete', 'editor'] },
    { why: 'List the sessions of a user.', words: ['auth', 'sessions', 'list', '--user', user], lines: 9 },
    { why: 'End one of them.', words: ['auth', 'sessions', 'revoke', session], lines: 6 },
    { why: 'End every session of the user.', words: ['auth', 'sessions', 'revoke-all', user] },
    { why: 'See the second factors of a user.', words: ['auth', 'mfa', 'get', user] },
    { why: 'Remove them.', words: ['auth', 'mfa', 'reset', user] },
    { why: 'List the templates.', words: ['auth', 'templates', 'list'], lines: 10 },
    { why: 'Read one.', words: ['auth', 'templates', 'get', 'confirm_email'], lines: 8 },
    {
      why: 'Replace its texts.',
      words: ['auth', 'templates', 'set', 'confirm_email', '--json', '-'],
      input: welcome,
      lines: 6,
    },
    {
      why: 'Send one real message to yourself.',
      words: ['auth', 'templates', 'send-test', 'confirm_email', '--json', '{"to":"me@shop.example"}'],
    },
    {
      why: 'Store a secret of the application.',
      words: ['secret', 'set', 'REGION_KEY', '--stdin'],
      input: 'a secret value\n',
    },
    { why: 'See the names in the vault.', words: ['secret', 'list'] },
    { why: 'Let a user administer with tokens of their own.', words: ['operators', 'add', user] },
    { why: 'List the operators.', words: ['operators', 'list'] },
    { why: 'Remove the operator.', words: ['operators', 'remove', user] },
    {
      why: 'Read what happened, the newest first.',
      words: ['auth', 'audit', '--limit', '2', '--event-type', 'operator.*'],
      lines: 14,
    },
  ]
}

export interface Ran extends Step {
  code: number | null
  stdout: string
  stderr: string
}

export async function runScenario(
  steps: readonly Step[],
  options: CommandOptions,
  flags: string[] = [],
): Promise<Ran[]> {
  const ran: Ran[] = []
  for (const step of steps) {
    const { input } = step
    ran.push({
      ...step,
      ...(await stack([...step.words, ...flags], { ...options, ...(input === undefined ? {} : { input }) })),
    })
  }
  return ran
}

/** The transcript as Markdown, with placeholders for what differs from run to run. */
export function transcriptOf(ran: readonly Ran[]): string {
  const shown = ran.map(({ why, words, input, code, stdout, stderr, lines = 12 }) => {
    const command = words.map((word) => (/[\s{]/.test(word) ? `'${word}'` : word)).join(' ')
    const all = stdout.trimEnd().split('\n')
    const text = all.length > lines ? [...all.slice(0, lines), '  …'] : all
    const output = [
      ...stderr
        .trimEnd()
        .split('\n')
        .map((line) => `! ${line}`),
      ...text,
    ].filter((line) => line !== '' && line !== '! ')
    const pipe = input === undefined ? '' : ' < document.json'
    return `${why}\n\n\`\`\`\n$ stack ${command}${pipe}\n${output.join('\n')}${code === 0 ? '' : `\n(exit ${code})`}\n\`\`\`\n`
  })
  return steady(shown.join('\n'))
}

function steady(text: string): string {
  return text
    .replace(/\b(usr|ses|req|aud|msg)_[0-9A-Za-z]{26}\b/g, '$1_01…')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '2026-11-22T12:00:00Z')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:8787')
    .replace(/"[a-z0-9]{8}m"/g, '"k3v9x0tqm"')
    .replace(/process \d+/g, 'process 4121')
    .replace(/"etag": "\\"\d+\\""/g, '"etag": "\\"7\\""')
    .replace(/"fingerprint": "[^"]+"/g, '"fingerprint": "…"')
    .replace(/[a-z0-9.-]+@example\.com/g, 'ann@example.com')
    .replace(/"user_agent": "[^"]*"/g, '"user_agent": "…"')
}
