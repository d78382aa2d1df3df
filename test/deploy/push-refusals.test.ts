/** What `stack push` refuses, with which exit code, and that nothing has changed then (contract 10.2). */

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { packageRoot, start } from '../support/command.ts'
import { usePush } from '../support/push.ts'

// each push builds, rehearses and migrates
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const test = usePush('examples/orders')

/** A second file of the project for the time of the work. */
async function changed<T>(name: string, change: (text: string) => string, work: () => Promise<T>): Promise<T> {
  const file = path.join(test.root, name)
  const before = fs.readFileSync(file, 'utf8')
  fs.writeFileSync(file, change(before))
  try {
    return await work()
  } finally {
    fs.writeFileSync(file, before)
  }
}

const writes = () => test.platform.calls.filter(({ method }) => method !== 'GET')
const withUrl = (url: string) => (text: string) => text.replace(/"url":"[^"]*"/, `"url":"${url}"`)

/** `unshare` gives a process a network without any interface. Only Linux has it, and not every container admits it. */
const canUnshare = spawnSync('unshare', ['-rn', 'true']).status === 0
if (!canUnshare) process.stderr.write('the dry run without a network is skipped: unshare -rn is not available\n')

describe('a dry run', () => {
  it.skipIf(!canUnshare)('needs no network at all', async () => {
    const { code, stdout, stderr } = await test.push(
      ['--dry-run'],
      { CLOUDFLARE_API_TOKEN: undefined },
      { before: ['unshare', '-rn'] },
    )
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { dry_run: true, migrations: null }])
    expect(stderr).toContain('the migrations were not compared')
    expect(stderr).toContain('nothing was uploaded, and Cloudflare was not asked')
    expect(test.platform.calls).toEqual([])
  })

  it('without a database says that the migrations were not compared', async () => {
    const { code, stderr } = await test.push(['--dry-run'], {
      DATABASE_URL: undefined,
      CLOUDFLARE_API_TOKEN: undefined,
    })
    expect([code, stderr]).toEqual([0, expect.stringContaining('not compared: DATABASE_URL is not set')])
  })

  it('with a database lists what is pending, and applies nothing', async () => {
    const { code, stdout, stderr } = await test.push(
      ['--dry-run', '--database-url-stdin'],
      { DATABASE_URL: undefined },
      { input: `${test.database}\n` },
    )
    expect(code).toBe(0)
    expect(JSON.parse(stdout).migrations).toContain('0003_basket.sql')
    expect(stderr).toContain('would apply')
    expect(stderr).toContain('PAYMENTS_SECRET is needed: without it the webhook payments refuses every delivery')
    expect(await test.sql(`select to_regnamespace('auth') is null as absent`)).toEqual([{ absent: true }])
    expect(test.platform.calls).toEqual([])
    expect(fs.existsSync(path.join(test.home, 'stack'))).toBe(false)
  })
})

describe('a push that cannot begin', () => {
  it.each([
    ['no token', [], { CLOUDFLARE_API_TOKEN: undefined }, 4, 'CLOUDFLARE_API_TOKEN is not set: make a token at'],
    ['no token but words', [], { CLOUDFLARE_API_TOKEN: 'two words' }, 4, 'holds a character that no token has'],
    ['a wrong token', [], { CLOUDFLARE_API_TOKEN: 'wrong' }, 4, 'Cloudflare refused CLOUDFLARE_API_TOKEN'],
    ['no database', [], { DATABASE_URL: undefined }, 2, "the database's owner is not known: set DATABASE_URL"],
    ['another database', [], { DATABASE_URL: 'mysql://root:secret-word@host/db' }, 2, 'must begin with postgresql://'],
    ['no input', ['--database-url-stdin'], {}, 2, 'found nothing on standard input'],
    ['an unknown key', ['--new-keys', 'peper'], {}, 2, 'the keys are logins, claims'],
    ['an unknown plan', ['--plan', 'gold'], {}, 2, 'Allowed choices are paid, free'],
    ['a word too many', ['more'], {}, 2, 'too many arguments'],
    ['no platform', [], { CLOUDFLARE_API_BASE_URL: 'http://127.0.0.1:1' }, 6, "Cloudflare's API is not reachable"],
  ] as [string, string[], Record<string, string | undefined>, number, string][])(
    '%s',
    async (_title, args, env, exit, words) => {
      const { code, stdout, stderr } = await test.push(args, env)
      expect([code, stdout, stderr]).toEqual([exit, '', expect.stringContaining(words)])
      expect(stderr).not.toContain('secret-word')
      expect(writes()).toEqual([])
    },
  )

  it('names the environments where none is chosen, exit 3, and suggests one for a wrong name', async () => {
    const none = await start(['push'], { cwd: test.root }).finished
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('--env names one of staging')])
    const wrong = await start(['push', '--env', 'stagin'], { cwd: test.root }).finished
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('did you mean staging')])
  })

  it.each([
    ['http://example.com', 'is not https'],
    ['https://example.com:8443', 'Cloudflare serves https://<host> alone'],
    ['https://127.0.0.1.example/api', 'has the path /api'],
    ['https://nowhere.example', 'no zone of this Cloudflare account holds nowhere.example'],
  ])('an address that Cloudflare cannot serve is exit 2: %s', async (url, words) => {
    const { code, stderr } = await changed('stack/project.json', withUrl(url), () => test.push())
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
    expect(writes()).toEqual([])
  })

  it.each([
    ['no TOML', 'name = "orders"', 'name = "orders', 'wrangler.toml:2:'],
    ['a variable of the stack', 'no_bundle = true', 'vars = { STACK_URL = "x" }', 'cannot set this variable'],
  ])('a wrangler.toml that is wrong is exit 2: %s', async (_title, from, to, words) => {
    const change = (text: string) => text.replace(from, to)
    const { code, stderr } = await changed('wrangler.toml', change, () => test.push())
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
  })

  it('a project that does not build is exit 1 with its refusals, and the database is untouched', async () => {
    const { code, stderr } = await changed(
      'src/app.module.ts',
      (text) => text.replace('providers: [', 'providers: [Nothing, '),
      () => test.push(),
    )
    expect([code, stderr]).toEqual([1, expect.stringContaining('nothing was deployed')])
    expect(await test.sql(`select to_regnamespace('auth') is null as absent`)).toEqual([{ absent: true }])
  })

  it('a bundle that throws while it is loaded is exit 1 with its place, and the database is untouched', async () => {
    const throwing = (text: string) => `${text}\nif (Date) throw new Error('no start')\n`
    const { code, stderr } = await changed('src/prices.ts', throwing, () => test.push())
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/the backend worker does not start: .*no start[\s\S]*prices\.ts/),
    ])
    expect(await test.sql(`select to_regnamespace('auth') is null as absent`)).toEqual([{ absent: true }])
  })

  it('a bundle over the size of the plan is exit 1, and its largest imports are named', async () => {
    // random text does not compress below 3 MiB, which Workers Free admits
    test.write('src/large.ts', `export const large = '${randomBytes(4_000_000).toString('base64')}'\n`)
    const using = (text: string) =>
      `import { large } from './large.ts'\n${text}\nReflect.set(globalThis, 'large', large)\n`
    const budget = (text: string) => text.replace('{', '{ "bundle_budget_kib": 20000, ')
    const push = () => test.push(['--dry-run', '--plan', 'free'])
    const { code, stderr } = await changed('src/prices.ts', using, () => changed('stack/project.json', budget, push))
    fs.rmSync(path.join(test.root, 'src/large.ts'))
    expect([code, stderr]).toEqual([1, expect.stringContaining('bundle-over-budget')])
    expect(stderr).toMatch(/3072\.0 KiB[\s\S]*this project with its runtime/)
  })

  it('a file of keys that is not valid is exit 2, and stays as it is', async () => {
    const file = path.join(test.home, 'stack/abcd1234m.json')
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, '{ "keys": { "sealing": "short" }')
    const { code, stderr } = await test.push()
    expect([code, stderr]).toEqual([2, expect.stringContaining('restore it from a copy')])
    expect(fs.readFileSync(file, 'utf8')).toContain('short')
    fs.rmSync(file)
  })

  it('a database that does not answer is exit 6, and another push of it is exit 1', async () => {
    const away = new URL(test.database)
    away.port = '1'
    expect(await test.push([], { DATABASE_URL: away.href })).toMatchObject({ code: 6 })
    const [other] = await test.sql<{ pid: number }>(`select pg_backend_pid() as pid`)
    expect(other).toBeDefined()
    const { default: pg } = await import('pg')
    const client = new pg.Client(test.database)
    await client.connect()
    await client.query('select pg_advisory_lock(8319395793567937384)')
    const { code, stderr } = await test.push()
    await client.end()
    expect([code, stderr]).toEqual([1, expect.stringContaining('another push of this environment is under way')])
    expect(writes()).toEqual([])
  })

  it('a migration that fails is exit 1 with file and line, and nothing is uploaded', async () => {
    test.write('migrations/0009_wrong.sql', 'select 1;\nselect nothing from nowhere;\n')
    const { code, stderr } = await test.push()
    fs.rmSync(path.join(test.root, 'migrations/0009_wrong.sql'))
    expect([code, stderr]).toEqual([1, expect.stringContaining('0009_wrong.sql:2 failed')])
    expect(writes()).toEqual([])
    expect(await test.sql(`select to_regnamespace('auth') is null as absent`)).toEqual([{ absent: true }])
  })

  it('an account with Workers Free is refused at the auth worker, with --plan free as the way out', async () => {
    test.platform.isFree = true
    const refused = await test.push()
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('has Workers Free, whose 10 ms of cpu')])
    expect([...test.platform.workers.values()]).toEqual([])
    const free = await test.push(['--plan', 'free'])
    expect([free.code, free.stderr]).toEqual([0, expect.stringContaining('sign-in with a password will fail')])
    expect(test.platform.workers.size).toBe(2)
  })
})

it('asks nothing: the commands above had no terminal, and no line of the sources prompts', () => {
  const texts = ['deploy/cloudflare', 'cli/push'].flatMap((folder) =>
    fs
      .readdirSync(path.join(packageRoot, folder))
      .map((name) => fs.readFileSync(path.join(packageRoot, folder, name), 'utf8')),
  )
  expect(texts.filter((text) => /readline|confirm\(|ask\(/.test(text))).toEqual([])
})
