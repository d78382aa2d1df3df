/** `stack secret set|list|unset` (contract 9.9, 10). */
import * as fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stack } from '../support/command.ts'
import { useStack } from '../support/stack.ts'
import { titled } from '../support/titles.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'secret' })

/** @returns the project of the running stack. @throws Error where the stack has left no record. */
function here(): string {
  const file = path.join(probe.root, '.stack/local.json')
  if (!fs.existsSync(file)) throw new Error('the stack has left no record')
  return probe.root
}

/** Runs a command with text on standard input. */
const piped = (input: string | Buffer, args: string[], cwd: string) => stack(args, { cwd, input })

const readLater = async (name: string) => {
  await new Promise((resolve) => setTimeout(resolve, 5_100))
  return (await probe.call(`/secrets/${name}`)).json.secret
}

describe('the local stack', () => {
  it('set from standard input, list, unset', async () => {
    const pem = '-----BEGIN KEY-----\nabc\n-----END KEY-----'
    const set = await piped(`${pem}\n`, ['secret', 'set', 'PEM', '--stdin'], here())
    expect(set).toEqual({
      code: 0,
      stdout: '',
      stderr: `  stripped one trailing newline\nprobe/local\n  PEM is stored (${pem.length} bytes): requests see it within 5 s\n`,
    })
    const list = await stack(['secret', 'list'], { cwd: here() })
    expect([list.code, list.stderr]).toEqual([0, 'probe/local\n'])
    expect(list.stdout).toBe(`${JSON.stringify(JSON.parse(list.stdout), undefined, 2)}\n`)
    expect(JSON.parse(list.stdout).data).toMatchObject([{ name: 'PEM' }])
    expect((await stack(['secret', 'list', '--json'], { cwd: here() })).stdout).toBe(list.stdout)
    expect(await readLater('PEM')).toBe(pem)
    const unset = await stack(['secret', 'unset', 'PEM'], { cwd: here() })
    expect([unset.code, unset.stdout]).toEqual([0, ''])
    expect(JSON.parse((await stack(['secret', 'list'], { cwd: here() })).stdout).data).toEqual([])
  })

  it('set as NAME=value: all that follows the first = is the value', async () => {
    const { code, stdout, stderr } = await stack(['secret', 'set', 'PAIR=a=b='], { cwd: here() })
    expect([code, stdout, stderr]).toEqual([0, '', expect.stringContaining('PAIR is stored (4 bytes)')])
    expect(stderr).not.toContain('a=b')
    expect(await readLater('PAIR')).toBe('a=b=')
  })

  it.each(
    titled([
      [['set', 'NAME'], '', 'the value is missing'],
      [['set', 'NAME='], '', 'the value of NAME is empty'],
      [['set', '=value'], '', 'the name of a secret has 1 to 128 letters, digits and _'],
      [['set', 'A-B=value'], '', 'the name of a secret has 1 to 128 letters, digits and _'],
      [['set', 'AUTH_ISSUER=value'], '', "is the stack's own"],
      [['set', 'NAME=value', '--stdin'], 'value', 'given twice'],
      [['set', 'NAME', '--stdin'], '', 'the value of NAME is empty'],
      [['set', 'NAME', '--stdin'], Buffer.from([0xff]), 'not UTF-8'],
      [['unset', 'A B'], '', 'the name of a secret has 1 to 128 letters, digits and _'],
      [['set'], '', 'missing required argument'],
      [['unset'], '', 'missing required argument'],
      [['list', 'extra'], '', 'Unexpected: "extra". Usage: stack secret list [options]'],
      [['unset', 'A', 'B'], '', 'what follows the name is not shown, for it may be the value'],
      [['set', 'NAME', '--stdn'], '', 'unknown option --stdn. Usage: stack secret set'],
    ]),
  )('refused before anything is sent: %s', async (_title, args, input, sentence) => {
    const { code, stdout, stderr } = await piped(input, ['secret', ...args], here())
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(sentence)])
    expect(stderr).not.toContain('probe/local')
  })

  it.each([
    ['in the place of the name', 'whsec_bm90LWEtcmVhbC1zZWNyZXQ', []],
    ['in the place of the name', 'sk_live_canary', ['--stdin']],
    ['in the place of the name', 'https://hooks.example/canary', ['--stdin']],
    ['in the place of the name', 'K7gNU3sdo0OL0wNhqoVWhr3g6s1xYv72ol1pe1Unols=', []],
    ['in the place of the name', '8f742231b10e8888abcd99yyyzzz85a5canary', ['--stdin']],
    ['apart from the name', 'canary', ['NAME']],
    ['apart from the name, and like an option', '-----BEGIN CANARY-----', ['NAME']],
  ])('a value %s is refused, unsent and not printed: %s', async (_where, value, others) => {
    const args = others[0] === 'NAME' ? ['NAME', value] : [value, ...others]
    const { code, stdout, stderr } = await piped('value', ['secret', 'set', ...args], here())
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^error: /)
    expect(stderr).not.toContain(value)
    expect(stderr).not.toContain('probe/local')
  })

  it('10.5 of the newlines at its end one is stripped, and said; a value without one is taken as it is', async () => {
    const sizes = ['ab\n\n', 'ab\r\n', 'ab'].map(async (input) => {
      const { code, stderr } = await piped(input, ['secret', 'set', 'SIZED', '--stdin'], here())
      const [, size] = /SIZED is stored \((\d+) bytes\)/.exec(stderr) ?? []
      return [code, size, stderr.includes('stripped one trailing newline')]
    })
    expect(await Promise.all(sizes)).toEqual([
      [0, '3', true],
      [0, '2', true],
      [0, '2', false],
    ])
    await stack(['secret', 'unset', 'SIZED'], { cwd: here() })
  })

  it('an entry under a name that looks like a value can be removed, and its name is not printed', async () => {
    const name = 'sk_live_canary'
    await probe.sql(`insert into auth.vault_entries (name, sealed) values ($1, 'x')`, [name])
    const { code, stderr } = await stack(['secret', 'unset', name], { cwd: here() })
    expect([code, stderr]).toEqual([0, expect.stringContaining('the entry is not in the vault any more')])
    expect(stderr).not.toContain(name)
    expect(await probe.sql('select 1 from auth.vault_entries where name = $1', [name])).toEqual([])
  })

  it('a credential that is none: 4, and its refusal', async () => {
    const env = { STACK_SERVICE_ROLE_KEY: 'another' }
    const { code, stdout, stderr } = await stack(['secret', 'list'], { cwd: here(), env })
    expect([code, stdout, stderr]).toEqual([4, '', 'probe/local\nunauthorized: the service-role key is required\n'])
  })
})

describe('an environment', () => {
  let answer: (response: http.ServerResponse) => void = () => {}
  const asked: { method?: string; url?: string; apikey?: unknown; authorization?: unknown; body: string }[] = []
  const server = http.createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      const { apikey, authorization } = request.headers
      asked.push({ method: request.method!, url: request.url!, apikey, authorization, body })
      answer(response)
    })
  })
  let root: string

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const environments = {
      staging: { ref: 'abcdefghm', url },
      gone: { ref: 'abcdefghm', url: 'http://127.0.0.1:1' },
      clear: { ref: 'abcdefghm', url: 'http://stack.example' },
      query: { ref: 'abcdefghm', url: `${url}?region=eu` },
      fragment: { ref: 'abcdefghm', url: `${url}#here` },
      person: { ref: 'abcdefghm', url: url.replace('//', '//somebody:canary@') },
    }
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-secret-'))
    fs.mkdirSync(path.join(root, 'stack'))
    fs.writeFileSync(path.join(root, 'stack/project.json'), JSON.stringify({ project: 'shop', environments }))
  })

  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve))
    fs.rmSync(root, { recursive: true, force: true })
  })

  const env = { STACK_SERVICE_ROLE_KEY: 'srk_staging' }
  const set = (...args: string[]) => stack(['secret', 'set', 'NAME=value', ...args], { cwd: root, env })

  it('is named by --env, and gets what it is sent once', async () => {
    answer = (response) => response.writeHead(204).end()
    expect(await set('--env', 'staging')).toMatchObject({ code: 0, stdout: '' })
    const json = '{"value":"value"}'
    const sent = { method: 'PUT', url: '/admin/vault/backend/NAME', apikey: 'srk_staging', authorization: undefined }
    expect(asked.splice(0)).toEqual([{ ...sent, body: json }])
    const token = { STACK_ACCESS_TOKEN: 'a.b.c' }
    await stack(['secret', 'unset', 'NAME', '--env', 'staging'], { cwd: root, env: token })
    expect(asked.splice(0)).toMatchObject([{ method: 'DELETE', authorization: 'Bearer a.b.c', body: '' }])
  })

  it.each<[string, (response: http.ServerResponse) => void, number, string]>([
    [
      'an envelope',
      (r) => r.writeHead(400).end('{"error":"invalid_secret","error_description":"no"}'),
      1,
      'invalid_secret: no',
    ],
    ['a 403', (r) => r.writeHead(403).end('{"error":"forbidden","error_description":"no"}'), 4, 'forbidden: no'],
    ['HTML', (r) => r.writeHead(502).end('<h1>bad gateway</h1>'), 1, 'the stack answered 502: <h1>bad gateway</h1>'],
    ['a redirect', (r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), 1, 'the stack answered 302: '],
    ['HTML with 200', (r) => r.writeHead(200).end('<h1>hello</h1>'), 1, 'the stack answered 200: <h1>hello</h1>'],
    ['a cut', (r) => r.destroy(), 6, 'does not answer'],
  ])('answers with %s', async (_what, how, code, sentence) => {
    answer = how
    const finished = await set('--env', 'staging')
    expect([finished.code, finished.stdout, finished.stderr]).toEqual([code, '', expect.stringContaining(sentence)])
    expect(asked.splice(0).length).toBe(1)
  })

  it.each(['STACK_SERVICE_ROLE_KEY', 'STACK_ACCESS_TOKEN'])('%s is never printed, whatever it holds', async (name) => {
    for (const separator of ['\n', ' ', '“']) {
      const given = { [name]: `canary${separator}canary` }
      const finished = await stack(['secret', 'list', '--env', 'staging'], { cwd: root, env: given })
      expect([finished.code, finished.stderr]).toEqual([2, expect.stringContaining(name)])
      expect(finished.stderr + finished.stdout).not.toContain('canary')
    }
    expect(asked.splice(0)).toEqual([])
  })

  it.each<[string[], Record<string, string>, number, string]>([
    [['--env', 'gone'], env, 6, 'does not answer'],
    [['--env', 'stagin'], env, 3, 'did you mean staging?'],
    [['--env', 'clear'], env, 2, 'is not https'],
    [['--env', 'query'], env, 2, 'the url of query must be an address alone'],
    [['--env', 'fragment'], env, 2, 'the url of fragment must be an address alone'],
    [
      ['--env', 'person'],
      env,
      2,
      'error: the url of person must be an address alone: without a password, a ? or a #\n',
    ],
    [['--env', 'staging'], {}, 4, 'no credential for staging: `stack login --env staging --stdin` stores one'],
    [[], env, 3, '--env chooses one of: staging, gone, clear, query, fragment, person'],
  ])('%j with %j', async (args, given, code, sentence) => {
    const finished = await stack(['secret', 'set', 'NAME=value', ...args], { cwd: root, env: given })
    expect([finished.code, finished.stdout, finished.stderr]).toEqual([code, '', expect.stringContaining(sentence)])
    expect(asked.splice(0)).toEqual([])
  })
})
