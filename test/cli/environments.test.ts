/** `stack env`, `login`, `logout`, and the choice of a target and its credential (contract 1.4, 10.3, 10.4). */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stack } from '../support/command.ts'
import { record } from '../support/recorder.ts'

let folder: string
let root: string
let config: string

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-env-'))
})

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

beforeEach(() => {
  root = fs.mkdtempSync(path.join(folder, 'project-'))
  config = fs.mkdtempSync(path.join(folder, 'config-'))
  fs.mkdirSync(path.join(root, 'stack'))
  declare({})
})

const projectFile = () => path.join(root, 'stack/project.json')
const declare = (environments: Record<string, { ref: string; url: string }>) =>
  fs.writeFileSync(projectFile(), JSON.stringify({ project: 'shop', environments }))
const declared = () => JSON.parse(fs.readFileSync(projectFile(), 'utf8'))
const credentials = () => path.join(config, 'stack/credentials.json')

function run(words: string[], { input, env = {} }: { input?: string; env?: Record<string, string> } = {}) {
  const variables = { XDG_CONFIG_HOME: config, ...env }
  return stack(words, { cwd: root, env: variables, ...(input === undefined ? {} : { input }) })
}

const staging = { ref: 'abcdefghm', url: 'https://abcdefghm.stacks.example' }

describe('env create', () => {
  it('1.4 mints a ref of eight of [a-z0-9] and m, which has nothing of the project in it', async () => {
    const refs = await Promise.all(
      ['one', 'two', 'three'].map(async () => {
        const { stdout } = await run([
          'env',
          'create',
          `e${Math.random().toString(36).slice(2, 8)}`,
          '--url',
          'https://x.example',
        ])
        return JSON.parse(stdout).ref as string
      }),
    )
    expect(refs.filter((ref) => !/^[a-z0-9]{8}m$/.test(ref))).toEqual([])
    expect(new Set(refs).size).toBe(3)
  })

  it('keeps what the project file holds, and its indentation', async () => {
    fs.writeFileSync(projectFile(), '{\n    "project": "shop",\n    "bundle_budget_kib": 100\n}\n')
    await run(['env', 'create', 'staging', '--url', 'https://staging.example'])
    const { environments, ...others } = declared()
    expect(others).toEqual({ project: 'shop', bundle_budget_kib: 100 })
    expect(environments.staging.url).toBe('https://staging.example')
    expect(fs.readFileSync(projectFile(), 'utf8')).toMatch(/^\{\n {4}"project"/)
  })

  it('10.3 takes the domain of the others, and is exit 2 where there is none or more than one', async () => {
    declare({ staging })
    const { stdout } = await run(['env', 'create', 'production'])
    const { ref, url } = JSON.parse(stdout)
    expect(url).toBe(`https://${ref}.stacks.example`)
    declare({ staging, other: { ref: 'bbbbbbbbm', url: 'https://bbbbbbbbm.elsewhere.example' } })
    const unknown = await run(['env', 'create', 'next'])
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('the domain of the stack is not known')])
  })

  it.each([
    [['Staging', '--url', 'https://x.example'], 'lowercase letters'],
    [['local', '--url', 'https://x.example'], '"local" names the stack that runs'],
    [['staging', '--url', 'https://x.example'], 'the environment "staging" exists already: its ref is abcdefghm'],
    [['next', '--url', 'x.example'], '--url takes an address'],
    [['next', '--url', 'https://x.example/?a'], '--url takes an address'],
    [['next', '--url', 'http://x.example'], 'is not https'],
  ])('refuses %j, and the file stays as it was', async (words, sentence) => {
    declare({ staging })
    const before = fs.readFileSync(projectFile(), 'utf8')
    const { code, stdout, stderr } = await run(['env', 'create', ...words])
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(sentence)])
    expect(fs.readFileSync(projectFile(), 'utf8')).toBe(before)
  })
})

describe('the target', () => {
  it('--env wins over the choice, and nothing chosen is exit 3 with the environments', async () => {
    declare({ staging, production: { ref: 'bbbbbbbbm', url: 'https://p.example' } })
    const none = await run(['env'])
    expect([none.code, none.stdout, none.stderr]).toEqual([
      3,
      '',
      'error: no stack of this project runs here: `stack start` runs one, and `stack env use <name>` or --env chooses one of: staging, production\n',
    ])
    expect((await run(['env', 'use', 'staging'])).code).toBe(0)
    expect(JSON.parse((await run(['env'])).stdout)).toEqual({
      project: 'shop',
      environment: 'staging',
      chosen_by: 'stack env use',
      base_url: staging.url,
      ref: staging.ref,
    })
    expect(JSON.parse((await run(['env', '--env', 'production'])).stdout)).toMatchObject({
      environment: 'production',
      chosen_by: '--env',
      otherwise: 'staging (stack env use)',
    })
    expect(JSON.parse((await run(['env', 'list'])).stdout).data).toMatchObject([
      { name: 'staging', selected: true },
      { name: 'production', selected: false },
    ])
    await run(['env', 'use', 'local'])
    expect((await run(['env'])).code).toBe(3)
  })

  it('an unknown name is exit 3 with a suggestion, also where it was chosen and is gone', async () => {
    declare({ staging })
    const typed = await run(['env', 'use', 'stagin'])
    expect([typed.code, typed.stderr]).toEqual([3, 'error: there is no environment "stagin": did you mean staging?\n'])
    await run(['env', 'use', 'staging'])
    declare({ production: staging })
    expect((await run(['env'])).stderr).toContain('there is no environment "staging", which `stack env use` chose')
  })

  it('9.14 http is for this machine and private networks alone', async () => {
    for (const [url, code] of [
      ['http://10.1.2.3:8080/base', 0],
      ['http://192.168.1.1', 0],
      ['http://[fd00::1]:80', 0],
      ['http://stack.example', 2],
      ['http://8.8.8.8', 2],
      ['http://172.32.0.1', 2],
    ] as const) {
      declare({ staging: { ref: 'abcdefghm', url } })
      expect([url, (await run(['env', '--env', 'staging'])).code]).toEqual([url, code])
    }
  })
})

describe('login', () => {
  it('10.4 stores a credential that the stack accepts, by ref, for its owner alone', async () => {
    const { url, requests } = await record((response) => response.writeHead(200).end('{}'))
    declare({ staging: { ref: 'abcdefghm', url }, other: { ref: 'bbbbbbbbm', url } })
    const login = await run(['login', '--env', 'staging', '--stdin'], { input: 'srk_canary\n' })
    expect([login.code, login.stdout, login.stderr]).toEqual([
      0,
      '',
      `shop/staging\n  the service-role key of staging is stored in ${credentials()}\n`,
    ])
    await run(['login', '--env', 'other', '--stdin'], { input: 'a.b-_.c' })
    expect(JSON.parse(fs.readFileSync(credentials(), 'utf8'))).toEqual({
      abcdefghm: { service_role_key: 'srk_canary' },
      bbbbbbbbm: { access_token: 'a.b-_.c' },
    })
    expect(fs.statSync(credentials()).mode & 0o777).toBe(0o600)
    await run(['auth', 'settings', 'get', '--env', 'staging'])
    await run(['auth', 'settings', 'get', '--env', 'other'])
    await run(['auth', 'settings', 'get', '--env', 'other'], { env: { STACK_SERVICE_ROLE_KEY: 'srk_wins' } })
    const sent = requests.slice(2).map(({ headers }) => [headers['apikey'], headers.authorization])
    expect(sent).toEqual([
      ['srk_canary', undefined],
      [undefined, 'Bearer a.b-_.c'],
      ['srk_wins', undefined],
    ])
    expect((await run(['logout', '--env', 'staging'])).code).toBe(0)
    const out = await run(['auth', 'settings', 'get', '--env', 'staging'])
    expect([out.code, out.stderr]).toEqual([
      4,
      expect.stringContaining('`stack login --env staging --stdin` stores one'),
    ])
    expect(JSON.parse(fs.readFileSync(credentials(), 'utf8'))).toHaveProperty('bbbbbbbbm')
  })

  it('stores nothing that the stack refuses, and nothing that no header can hold', async () => {
    const { url } = await record((response) =>
      response.writeHead(401).end('{"error":"unauthorized","error_description":"no"}'),
    )
    declare({ staging: { ref: 'abcdefghm', url } })
    const refused = await run(['login', '--env', 'staging', '--stdin'], { input: 'srk_wrong' })
    expect([refused.code, refused.stderr]).toEqual([4, 'shop/staging\nunauthorized: no\n'])
    for (const input of ['', '\n', 'two words', 'two\nlines', 'a\u0000b']) {
      const { code, stderr } = await run(['login', '--env', 'staging', '--stdin'], { input })
      expect([code, stderr]).toEqual([2, expect.stringContaining('holds no credential')])
    }
    expect((await run(['login', '--env', 'staging'])).code).toBe(2)
    expect(fs.existsSync(credentials())).toBe(false)
  })

  it('a file of credentials that is damaged is named and left alone', async () => {
    const { url } = await record((response) => response.writeHead(200).end('{}'))
    declare({ staging: { ref: 'abcdefghm', url } })
    fs.mkdirSync(path.dirname(credentials()))
    fs.writeFileSync(credentials(), '{"torn":')
    const { code, stderr } = await run(['login', '--env', 'staging', '--stdin'], { input: 'srk_1' })
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not valid JSON: repair it')])
    expect(fs.readFileSync(credentials(), 'utf8')).toBe('{"torn":')
  })
})
