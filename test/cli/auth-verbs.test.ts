/**
 * The seventeen `stack auth` verbs beside a server that records each request (source, "Management routes" and "What the
 * command-line verbs print"; contract 9.2, 9.6, 10.1, 10.2).
 */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { auth } from '../../cli/auth/verbs.ts'
import { batched } from '../support/batched.ts'
import { type Finished, stack } from '../support/command.ts'
import { type Answer, type Recorded, record } from '../support/recorder.ts'
import { type Verb, verbs } from '../support/verbs.ts'

const base = '/v1/management/auth'
const key = 'srk_of_the_recorder'
let folder: string

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-verbs-'))
})

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

/** A project whose environment `staging` has the address. */
function projectAt(url: string): string {
  const root = fs.mkdtempSync(path.join(folder, 'project-'))
  fs.mkdirSync(path.join(root, 'stack'))
  const environments = { staging: { ref: 'abcdefghm', url } }
  fs.writeFileSync(path.join(root, 'stack/project.json'), JSON.stringify({ project: 'shop', environments }))
  return root
}

const env = { STACK_SERVICE_ROLE_KEY: key }

/** Runs words beside a server. */
async function run(words: string[], answer: Answer, input?: string) {
  const { url, requests } = await record(answer)
  const finished = await stack([...words, '--env', 'staging', '--timeout', '2'], {
    cwd: projectAt(url),
    env,
    ...(input === undefined ? {} : { input }),
  })
  return { ...finished, requests, url }
}

const wordsOf = ({ words, positionals, flags }: Verb) => [...words.split(' '), ...positionals, ...flags]

/** Runs a verb whose call gets the answer. What it reads before gets what the fixture says. */
const runVerb = (verb: Verb, answer: Answer) =>
  run(
    wordsOf(verb),
    (response, request) => {
      if (!verb.reads || request.method !== 'GET') return answer(response, request)
      response.writeHead(200, { 'content-type': 'application/json', ...verb.reads.headers })
      response.end(JSON.stringify(verb.reads.body))
    },
    verb.stdin,
  )

/** The body that the verb sends, to the byte: a document as it was given, else compact JSON. */
function bodyOf({ flags, body, stdin, reads }: Verb): string {
  if (body === undefined) return ''
  const given = flags[flags.indexOf('--json') + 1]
  if (stdin !== undefined) return stdin
  return flags.includes('--json') && reads?.path !== '/settings' ? given! : JSON.stringify(body)
}

const json = (text: string) => (text === '' ? undefined : JSON.parse(text))

function requestsProblem(verb: Verb, requests: Recorded[], url: string): string | undefined {
  const { host } = new URL(url)
  const common = { host, connection: 'close', apikey: key, accept: 'application/json' }
  const call = requests.at(-1)!
  const text = bodyOf(verb)
  const reads = verb.reads ? [['GET', `${base}${verb.reads.path}`]] : []
  try {
    expect(requests.map(({ method, url: line }) => [method, line])).toEqual([
      ...reads,
      [verb.method, `${base}${verb.path}`],
    ])
    // the order of merged members is free, and a document travels as it was given
    if (verb.reads?.path === '/settings') expect(json(call.body)).toEqual(verb.body)
    else expect(call.body).toBe(text)
    // RFC 9110 section 8.6: a POST without a body says so
    const hasLength = verb.body !== undefined || verb.method === 'POST'
    const length = hasLength ? { 'content-length': String(Buffer.byteLength(call.body)) } : {}
    expect(call.headers).toEqual({
      ...common,
      'user-agent': expect.stringMatching(/^stack\/\d/),
      ...verb.headers,
      ...length,
    })
    expect(call.rawHeaders.length).toBe(Object.keys(call.headers).length * 2)
  } catch (error) {
    return String(error)
  }
}

interface Expected {
  code: number
  stdout: string
  /** After the banner, as it ends. */
  stderr: string | RegExp
}

const envelope = { error: 'invalid_request', error_description: 'no', status: 400, request_id: 'req_1' }
const html = '<html>\n<h1>oops</h1></html>'
const odd = '{"b":12345678901234567890, "a" : 1.0,"a":[ ],"o":{}, "s":"\\u0041 \\" , : { "}'
const oddIndented = `{
  "b": 12345678901234567890,
  "a": 1.0,
  "a": [],
  "o": {},
  "s": "\\u0041 \\" , : { "
}
`

const answers: [string, Answer, (url: string) => Expected][] = [
  ['a JSON body', (response) => response.writeHead(200).end(odd), () => ({ code: 0, stdout: oddIndented, stderr: '' })],
  ['204', (response) => response.writeHead(204).end(), () => ({ code: 0, stdout: '', stderr: '' })],
  [
    'an error envelope',
    (response) => response.writeHead(400).end(JSON.stringify(envelope)),
    () => ({ code: 1, stdout: '', stderr: 'invalid_request: no\n' }),
  ],
  [
    'an HTML body with 500',
    (response) => response.writeHead(500).end(html),
    () => ({ code: 1, stdout: '', stderr: `the stack answered 500: ${html}\n` }),
  ],
  [
    'no answer',
    () => {},
    (url) => ({ code: 6, stdout: '', stderr: `error: ${url} does not answer: nothing within 2 s\n` }),
  ],
  [
    'half an answer',
    (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"a":')
      setTimeout(() => response.destroy(), 50)
    },
    (url) => ({ code: 6, stdout: '', stderr: new RegExp(`^error: ${url} does not answer: .+\n$`) }),
  ],
  [
    'a redirect',
    (response) => response.writeHead(302, { location: '/elsewhere' }).end('moved'),
    () => ({ code: 1, stdout: '', stderr: 'the stack answered 302: moved\n' }),
  ],
]

function outputProblem({ code, stdout, stderr }: Finished, expected: Expected): string | undefined {
  try {
    expect([code, stdout]).toEqual([expected.code, expected.stdout])
    expect(stderr.startsWith('shop/staging\n')).toBe(true)
    const rest = stderr.slice('shop/staging\n'.length)
    if (typeof expected.stderr === 'string') expect(rest).toBe(expected.stderr)
    else expect(rest).toMatch(expected.stderr)
  } catch (error) {
    return String(error)
  }
}

describe('the seventeen verbs', () => {
  it('are the verbs of the group, in the order of the table', () => {
    expect([...new Set(verbs.map(({ words }) => words))]).toEqual(auth.verbs.map(({ name }) => name))
  })

  // contract 10.1: stdout is the answer's own JSON, indented by two spaces, or nothing
  it.each(answers)('%s: stdout, stderr, exit code and the requests', async (_name, answer, expected) => {
    const cases = verbs.map((verb) => [wordsOf(verb).join(' '), verb] as const)
    const problems = await batched(cases, async (verb) => {
      const { requests, url, ...finished } = await runVerb(verb, answer)
      return outputProblem(finished, expected(url)) ?? requestsProblem(verb, requests, url)
    })
    expect(problems).toEqual([])
  })

  it('10.2 exit codes: 401 and 403 are 4, 412 is 5 and is not retried', async () => {
    const refused = (status: number): Answer => {
      return (response) => response.writeHead(status).end(JSON.stringify({ ...envelope, error: 'refused', status }))
    }
    const clear = verbs.find(({ words }) => words === 'auth providers config clear')!
    for (const [status, code] of [
      [401, 4],
      [403, 4],
      [404, 1],
      [412, 5],
      [429, 1],
      [503, 1],
    ] as const) {
      const finished = await runVerb(clear, refused(status))
      expect([status, finished.code, finished.stderr]).toEqual([status, code, 'shop/staging\nrefused: no\n'])
      expect(finished.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
    }
  })

  it('9.2 where the read before a write fails, nothing is written and the error is that of the read', async () => {
    for (const verb of verbs.filter(({ reads }) => reads)) {
      const { requests, code, stdout, stderr } = await run(
        wordsOf(verb),
        (response) =>
          response.writeHead(500).end(JSON.stringify({ ...envelope, error: 'internal_error', status: 500 })),
        verb.stdin,
      )
      expect(requests.map(({ method }) => method)).toEqual(['GET'])
      expect([code, stdout, stderr]).toEqual([1, '', 'shop/staging\ninternal_error: no\n'])
    }
  })

  it('a credential of the environment goes to the stack alone: a token as Bearer', async () => {
    const { url, requests } = await record((response) => response.writeHead(204).end())
    const token = { STACK_ACCESS_TOKEN: 'a.b.c' }
    await stack(['auth', 'settings', 'get', '--env', 'staging'], { cwd: projectAt(url), env: token })
    expect(requests[0]!.headers).toMatchObject({ authorization: 'Bearer a.b.c' })
    expect(requests[0]!.headers).not.toHaveProperty('apikey')
  })

  it('9.14 a stack below a path is called below it', async () => {
    const { url, requests } = await record((response) => response.writeHead(204).end())
    await stack(['auth', 'mfa', 'get', 'usr_1', '--env', 'staging'], { cwd: projectAt(`${url}/some/base/`), env })
    expect(requests.map((one) => one.url)).toEqual([`/some/base${base}/users/usr_1/mfa`])
  })
})

describe('settings set', () => {
  it('leaves what it does not know as it was: large numbers, 1.0, and the order', async () => {
    const stored = '{"zeta":12345678901234567890,"one":1.0,"password_min_length":8}'
    const { requests } = await run(['auth', 'settings', 'set', '--password-min', '9'], (response) =>
      response.writeHead(200).end(stored),
    )
    expect(requests[1]!.body).toBe('{"zeta":12345678901234567890,"one":1.0,"password_min_length":9}')
  })

  it('names the fields that the stack ignored, beside the answer', async () => {
    const { stdout, stderr, code } = await run(['auth', 'settings', 'set', '--json', '{"pasword":1}'], (response) =>
      response.writeHead(200).end('{"ignored_fields":["pasword"]}'),
    )
    expect([code, json(stdout)]).toEqual([0, { ignored_fields: ['pasword'] }])
    expect(stderr).toBe('shop/staging\nignored, because the stack knows no such field: pasword\n')
  })
})

describe('9.6 values in the request line', () => {
  const sent = async (...words: string[]) => {
    const { requests, stderr } = await run(words, (response) => response.writeHead(204).end())
    return [requests.map(({ url }) => url.slice(base.length)), stderr.replace('shop/staging\n', '')]
  }

  it('a query value goes out as it was typed, with a warning where it will not arrive intact', async () => {
    expect(await sent('auth', 'audit', '--event-type', `"<a>'{|}\\^\`?/:@`)).toEqual([
      [`/audit?event_type="<a>'{|}\\^\`?/:@`],
      '',
    ])
    for (const character of ['&', '=', '+', '%']) {
      const [urls, warning] = await sent('auth', 'audit', '--cursor', `a${character}b`)
      expect(urls).toEqual([`/audit?cursor=a${character}b`])
      expect(warning).toContain(`the value of --cursor holds "${character}" and is sent as typed`)
    }
  })

  it('a positional is one encoded segment', async () => {
    expect((await sent('auth', 'mfa', 'get', 'a/b c?d#é%'))[0]).toEqual(['/users/a%2Fb%20c%3Fd%23%C3%A9%25/mfa'])
  })

  it('10.1 only a limit above zero is sent, as it was typed', async () => {
    expect((await sent('auth', 'audit', '--limit', '007'))[0]).toEqual(['/audit?limit=007'])
    expect((await sent('auth', 'audit', '--limit', '-3'))[0]).toEqual(['/audit'])
  })
})

describe('refused before anything is sent', () => {
  const nested = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`
  const refused: [string, string[], RegExp, string?][] = [
    ['nothing is set', ['auth', 'settings', 'set'], /^error: nothing to set: name a setting .* or the whole document/],
    [
      'a document that is no JSON',
      ['auth', 'settings', 'set', '--json', '{a}'],
      /^error: --json:1:2 is not valid JSON/,
    ],
    ['a document nested too deep', ['auth', 'settings', 'set', '--json', nested], /is not valid JSON: nested deeper/],
    [
      'standard input that is no JSON',
      ['auth', 'settings', 'set', '--json', '-'],
      /^error: standard input:1:1 is not valid JSON/,
      '',
    ],
    [
      'a file that is not there',
      ['auth', 'templates', 'set', 'k', '--json', '@nowhere.json'],
      /^error: nowhere.json cannot be read/,
    ],
    ['no document', ['auth', 'templates', 'set', 'k'], /^error: the document is missing: --json/],
    ['flags over a list', ['auth', 'settings', 'set', '--json', '[]', '--password-min', '9'], /must be a JSON object/],
    [
      'a number that is none',
      ['auth', 'settings', 'set', '--password-min', 'nine'],
      /--password-min takes a whole number, not "nine"/,
    ],
    [
      'a boolean that is none',
      ['auth', 'settings', 'set', '--confirm-email', 'yes'],
      /--confirm-email takes true or false, not "yes"/,
    ],
    ['a limit that is no number', ['auth', 'audit', '--limit', '5x'], /--limit takes a whole number, not "5x"/],
    ['a space in a query', ['auth', 'audit', '--cursor', 'a b'], /the value of --cursor holds a space/],
    ['a # in a query', ['auth', 'audit', '--cursor', 'a#b'], /the value of --cursor holds "#"/],
    ['a control character in a query', ['auth', 'audit', '--cursor', 'a\nb'], /holds a control character/],
    ['a character beyond ASCII in a query', ['auth', 'audit', '--cursor', 'é'], /the value of --cursor holds "é"/],
    ['the segment ..', ['auth', 'mfa', 'get', '..'], /^error: "\.\." is no id/],
    ['the segment .', ['auth', 'sessions', 'revoke', '.'], /^error: "\." is no id/],
    [
      'a secret on the command line',
      ['auth', 'providers', 'config', 'set', 'google', '--credential', 'web', '--json', '{"client_secret":"canary"}'],
      /^error: a secret is read from a file or standard input alone/,
    ],
    [
      'duplicate keys, also escaped, nulls and unknown fields of a provider, each at its place',
      ['auth', 'providers', 'config', 'set', 'google', '--json', '-'],
      /^error: standard input:2:3 "browser_client" is no field here: did you mean "browser_clients"\?\nstandard input:3:13 null .*\nstandard input:5:3 duplicate key "link_policy"\nnothing was sent\n$/,
      '{\n  "browser_client": [],\n  "scopes": null,\n  "link_policy": "never",\n  "link_polic\\u0079": "never"\n}',
    ],
    [
      'an invalid combination of a provider',
      ['auth', 'providers', 'config', 'set', 'provider_d', '--json', '{"native_clients":[{"key":"a"}]}'],
      /^error: --json:1:20 .*browser clients only/,
    ],
    [
      'a provider without clients',
      ['auth', 'providers', 'config', 'set', 'email', '--json', '{}'],
      /has no configuration/,
    ],
    [
      'a credential of the wrong kind',
      ['auth', 'providers', 'config', 'set', 'apple', '--credential', 'main', '--json', '-'],
      /"kind" must be "signing_key"/,
      '{"provider":"apple","kind":"oauth_client_secret","client_secret":"canary"}',
    ],
  ]

  it.each(refused)('%s', async (_name, words, sentence, input) => {
    const { requests, code, stdout, stderr } = await run(words, (response) => response.writeHead(204).end(), input)
    expect([code, stdout, requests]).toEqual([2, '', []])
    expect(stderr).toMatch(sentence)
    expect(stderr).not.toContain('canary')
    expect(stderr).not.toContain('shop/staging')
  })
})
