/** The content of the bundles that are deployed: the example's, and that of the auth worker. */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { build } from '../../build/index.ts'
import { authTarget } from '../../build/targets.ts'
import { copyProject, targetOf, temporaryFolder, temporaryProject } from '../support/project.ts'

const root = path.resolve(import.meta.dirname, '../..')
const orders = path.join(root, 'examples/orders')

/** Names that must not be in a bundle, because they belong to Node, to tools, or to the other worker. */
const nowhere = [
  'reflect-metadata',
  '__decorate',
  'node:fs',
  'node:child_process',
  'eval(',
  'new Function',
  'ts-morph',
  'is read by "stack build"',
]
const notInBackend = ['argon2', 'sealed_private', 'password_credentials', 'SEALING_KEY', 'SignJWT']

function texts(folder: string): [string, string][] {
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => [name, fs.readFileSync(path.join(folder, name), 'utf8')])
}

it('the backend worker holds nothing of the auth module, of Node or of the build', async () => {
  const out = temporaryFolder()
  await build(targetOf(orders, ['staff'], out))
  for (const [name, text] of texts(path.join(out, 'out'))) {
    for (const forbidden of name === 'driver.js'
      ? nowhere.filter((word) => word !== 'eval(')
      : [...nowhere, ...notInBackend]) {
      expect([name, forbidden, text.includes(forbidden)]).toEqual([name, forbidden, false])
    }
  }
  const worker = fs.readFileSync(path.join(out, 'out/worker.js'))
  expect(gzipSync(worker).length).toBeLessThan(30 * 1024)
})

it('the auth worker holds nothing of debug devices, unless its target asks for them', async () => {
  const debug = ['stack-debug-device-1', 'debug_device_tokens', 'ddt_', '/auth/devices/debug', 'verifyRecorded']
  const found = async (hasDebugDevices: boolean) => {
    const out = temporaryFolder()
    await build(authTarget(out, hasDebugDevices))
    const whole = texts(path.join(out, 'out'))
      .map(([, text]) => text)
      .join('\n')
    return debug.filter((word) => whole.includes(word))
  }
  expect(await found(false)).toEqual([])
  expect(await found(true)).toContain('stack-debug-device-1')
})

it('1.2 the auth worker is compiled by the same build, and binds its own database role', async () => {
  const out = temporaryFolder()
  const { refusals, built } = await build(authTarget(out))
  expect(refusals).toEqual([])
  expect(built?.table.databaseRoles).toEqual({ caller: 'backend_authenticated', service: 'auth_admin' })
  // The parsers of WebAuthn are a chunk of their own, loaded at the first passkey. Its libraries were compiled with decorators.
  const ofPasskeys = (name: string) => /^verification-\w+\.js$/.test(name)
  const bundled = texts(path.join(out, 'out'))
  expect(bundled.filter(([, text]) => text.includes('__decorate')).every(([name]) => ofPasskeys(name))).toBe(true)
  expect(bundled.filter(([, text]) => text.includes('webauthn.create')).map(([name]) => ofPasskeys(name))).toEqual([
    true,
  ])
  const worker = fs.readFileSync(path.join(out, 'out/worker.js'), 'utf8')
  for (const word of ['reflect-metadata', 'X509', 'android-safetynet', 'BEGIN CERTIFICATE', 'import"./verification-']) {
    expect([word, worker.includes(word)]).toEqual([word, false])
  }
  expect(worker).toMatch(/import\("\.\/verification-\w+\.js"\)/)
})

/** @returns the files that `wrangler deploy` would upload from a folder. */
function dryRun(cwd: string) {
  const wrangler = path.join(root, 'node_modules/wrangler/bin/wrangler.js')
  return spawnSync(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', temporaryFolder()], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CI: 'true', NO_COLOR: '1', HOME: temporaryFolder() },
  })
}

describe('a worker carries what its project uses, and nothing else', () => {
  const parts = {
    scope: 'node:async_hooks',
    database: 'driver.js',
    webhooks: 'webhooks mounted',
    ed25519: 'several headers end in',
    limits: 'rate-limit binding',
    cors: 'access-control-allow-origin',
    store: 'webhooks.seen',
    crons: 'scheduled work failed',
  }
  const controller = (
    imports: string,
    body: string,
    options = '',
  ) => `import { ${imports}Controller, Get, Module } from '@stack/backend'
@Controller('a', { auth: false }) export class A { @Get(''${options}) x() { ${body} } }
@Module({ controllers: [A] }) export class AppModule {}
`
  const webhook = (options: string) => `import { Module, On, Webhook } from '@stack/backend'
@Webhook({ name: 'a', secret: { env: 'A' }, ${options} }) export class A { @On('PING') x() {} }
@Module({ providers: [A] }) export class AppModule {}
`

  const cron = `import { Cron, Injectable, Module } from '@stack/backend'
@Injectable() export class A { @Cron('0 6 * * *') x() {} }
@Module({ providers: [A] }) export class AppModule {}
`

  it.each<[string, string, (keyof typeof parts)[]]>([
    ['a schedule', cron, ['crons']],
    ['a plain route', controller('', 'return 1'), []],
    ['a line of log', controller('Log, ', `Log.info('x')`), ['scope']],
    ['a query', controller('Database, ', 'return Database.sql`select 1`'), ['scope', 'database']],
    ['the SDK whole', `export * as sdk from '@stack/backend'\n${controller('', 'return 1')}`, ['scope', 'database']],
    ['a limit', controller('', '', `, { limit: { requests: 1, seconds: 10, by: 'ip' } }`), ['limits']],
    ['cors', controller('', '').replace('[A] }', `[A], cors: { origins: ['*'] } }`), ['cors']],
    ['an HMAC', webhook(`provider: 'stripe'`), ['webhooks']],
    ['a public key', webhook(`provider: 'discord'`), ['webhooks', 'ed25519']],
    ['dedupe', webhook(`provider: 'stripe', dedupe: true`), ['scope', 'database', 'webhooks', 'store']],
  ])('%s', async (_what, source, expected) => {
    const project = temporaryProject({ 'src/app.module.ts': source })
    expect((await build(targetOf(project))).refusals.filter(({ severity }) => severity === 'error')).toEqual([])
    const worker = fs.readFileSync(path.join(project, '.stack/out/worker.js'), 'utf8')
    expect(Object.keys(parts).filter((part) => worker.includes(parts[part as keyof typeof parts]))).toEqual(
      Object.keys(parts).filter((part) => expected.includes(part as keyof typeof parts)),
    )
  })
})

it('8.5 wrangler takes the backend worker as it is', async () => {
  const project = temporaryFolder()
  copyProject(orders, project)
  await build(targetOf(project))
  const { status, stdout } = dryRun(project)
  expect([status, stdout]).toEqual([0, expect.stringContaining('driver.js')])
})

it('1.7 and the auth worker, by the repository’s own wrangler.toml', async () => {
  const clone = temporaryFolder()
  fs.copyFileSync(path.join(root, 'wrangler.toml'), path.join(clone, 'wrangler.toml'))
  await build(authTarget(path.join(clone, 'examples/orders/.stack/auth')))
  const { status, stdout } = dryRun(clone)
  expect([status, stdout]).toEqual([0, expect.stringMatching(/driver\.js[\s\S]*simd-\w+\.wasm/)])
})

it('2.12 the repository’s wrangler.toml has the schedules of the auth module', async () => {
  const { built: auth } = await build(authTarget(temporaryFolder()))
  const schedules = [...new Set((auth!.table.crons ?? []).map(({ schedule }) => schedule))].sort()
  const [, listed] = /^crons = (\[.*\])$/m.exec(fs.readFileSync(path.join(root, 'wrangler.toml'), 'utf8'))!
  expect(JSON.parse(listed!)).toEqual(schedules)
})
