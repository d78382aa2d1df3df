/** `stack push` end to end: against a stand-in of Cloudflare, and a Postgres whose owner is no superuser. */
import * as fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type Pushed, ref, usePush } from '../support/push.ts'

// each push builds, rehearses and migrates
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const test = usePush('examples/orders')
const names = { auth: `stack-${ref}-auth`, backend: `stack-${ref}` }
const management = '/v1/management/auth'
const password = 'correct horse battery'

/** A webhook, a limited route and scheduled work, beside those of the example. */
const extras = `import { Controller, Cron, Get, Injectable, Log, On, Webhook } from '@stack/backend'

@Controller('/extras', { auth: false })
export class ExtrasController {
  @Get('limited', { limit: { requests: 2, seconds: 60, by: 'ip' } })
  limited(): string {
    return 'first'
  }
}

@Injectable()
export class Nightly {
  @Cron('17 4 * * *')
  run(): void {
    Log.info('ran')
  }
}

@Webhook({ name: 'chat', provider: 'chat', secret: { env: 'CHAT_SECRET' } })
export class ChatWebhook {
  @On('MESSAGE_CREATE')
  received(): void {}
}
`

let admin: { headers: { apikey: string } }
let first: Pushed

async function signIn(email: string): Promise<{ id: string; token: string }> {
  const { json, text, status } = await test.call('/auth/sign-in/password', { json: { email, password } })
  if (status !== 200) throw new Error(`sign-in answered ${status}: ${text}`)
  return { id: json.user.id, token: json.access_token }
}

beforeAll(async () => {
  test.write('src/extras.ts', extras)
  test.replace('src/app.module.ts', 'StaffController]', 'StaffController, ExtrasController]')
  test.replace('src/app.module.ts', 'CodehostWebhook]', 'CodehostWebhook, ChatWebhook, Nightly]')
  test.replace(
    'src/app.module.ts',
    'import { OrdersController }',
    "import { ChatWebhook, ExtrasController, Nightly } from './extras.ts'\nimport { OrdersController }",
  )
  test.replace(
    'wrangler.toml',
    'no_bundle = true',
    'no_bundle = true\nvars = { REGION = "eu", OAUTH_GITHUB_ISSUER = "https://github.example" }',
  )
  first = await test.push()
  if (first.code !== 0) throw new Error(first.stderr)
  const { service_role_key: apikey } = JSON.parse(
    fs.readFileSync(path.join(test.home, 'stack/credentials.json'), 'utf8'),
  )[ref]
  admin = { headers: { apikey } }
})

describe('a first push', () => {
  it('10.1 prints the banner first, what was done on stderr, and the result as JSON on stdout', () => {
    expect(first.stderr.split('\n')[0]).toBe('orders/staging')
    const result = JSON.parse(first.stdout)
    expect(first.stdout).toBe(`${JSON.stringify(result, undefined, 2)}\n`)
    expect(result).toMatchObject({
      url: test.platform.edge,
      unset: ['PAYMENTS_SECRET', 'CODEHOST_SECRET', 'CHAT_SECRET'],
      removed_webhooks: [],
    })
    expect(result.publishable_key).toMatch(/^pub_[A-Za-z0-9_-]{22}$/)
    expect(result.version).toBe(test.platform.workers.get(names.backend)!.current!.id)
    expect(result.migrations.slice(-3)).toEqual(['0001_shop.sql', '0002_summary.sql', '0003_basket.sql'])
    expect(first.stderr).not.toContain(String.fromCharCode(27))
  })

  it('10.7 says before the upload what is unset and what it breaks, and what the plan admits', () => {
    expect(first.stderr).toContain('! CHAT_SECRET is not set: the webhook chat refuses every delivery')
    expect(first.stderr).toContain('stack secret set CHAT_SECRET --stdin --env staging')
    expect(first.stderr).toMatch(/Workers Paid is needed: a password hash .* 10 ms of cpu/)
    expect(first.stderr).toMatch(/the auth worker is loaded in [\d.]+ ms of cpu/)
    expect(first.stderr.indexOf('CHAT_SECRET')).toBeLessThan(first.stderr.indexOf('auth       version'))
  })

  it('serves from the very upload: sign-up, a gated request, and a role that counts at once', async () => {
    const email = 'ada@example.com'
    expect((await test.call('/auth/sign-up', { json: { email, password } })).status).toBe(200)
    const { id, token } = await signIn(email)
    expect((await test.call('/orders')).status).toBe(401)
    expect((await test.call('/orders', { token })).json).toEqual([])
    expect((await test.call('/staff/orders', { token })).json.error_description).toBe(
      'this route requires the role "staff"',
    )
    expect((await test.call(`${management}/users/${id}/roles/staff`, { method: 'PUT', ...admin })).status).toBe(204)
    expect((await test.call('/staff/orders', { token })).status).toBe(200)
    const { json } = await test.call(`${management}/users/${id}/roles`, admin)
    expect(json.data.map(({ name }: { name: string }) => name).sort()).toEqual(['customer', 'staff'])
  })

  it('1.2 divides the paths of one host between the workers, and neither is on another host', async () => {
    const { auth, backend } = {
      auth: test.platform.workers.get(names.auth)!,
      backend: test.platform.workers.get(names.backend)!,
    }
    expect(backend.routes).toEqual(['127.0.0.1/*'])
    expect(auth.routes.sort()).toEqual(
      ['/auth', '/v1/management', '/admin/vault', '/.well-known/oauth-authorization-server/auth']
        .flatMap((path) => [`127.0.0.1${path}`, `127.0.0.1${path}/*`])
        .sort(),
    )
    expect([auth.isOnWorkersDev, backend.isOnWorkersDev]).toEqual([false, false])
    expect((await test.call('/authors')).json.error).toBe('not_found')
  })

  it('5.4 2.7 2.12 binds the pool, the limits and the schedules that the local stack has', async () => {
    const { auth, backend } = {
      auth: test.platform.workers.get(names.auth)!,
      backend: test.platform.workers.get(names.backend)!,
    }
    for (const worker of [auth, backend]) {
      expect(worker.migrationTag).toBe('stack-pool')
      expect(worker.current!.metadata).toMatchObject({
        compatibility_date: '2026-07-30',
        compatibility_flags: ['nodejs_compat'],
      })
      const bound = (type: string) => worker.current!.metadata.bindings.filter((binding) => binding.type === type)
      expect(bound('durable_object_namespace')).toMatchObject([{ name: 'STACK_POOL', class_name: 'StackPool' }])
      expect(bound('service')).toMatchObject([{ name: 'AUTH', service: names.auth }])
      const secrets = Object.values(test.secrets(worker === auth ? 'auth' : 'backend'))
      expect(bound('plain_text').some(({ text }) => secrets.some((secret) => text!.includes(secret)))).toBe(false)
    }
    expect(backend.schedules).toEqual(['17 4 * * *'])
    expect(auth.schedules.length).toBeGreaterThan(1)
    const statuses: number[] = []
    for (let request = 0; request < 3; request++) statuses.push((await test.call('/extras/limited')).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  it('1.2 gives the keys that seal and sign to the auth worker alone, and each worker its own logins', () => {
    const [auth, backend] = [test.secrets('auth'), test.secrets('backend')]
    expect(Object.keys(backend).sort()).toEqual([
      'CLAIMS_KEY',
      'DATABASE_SERVICE_URL',
      'DATABASE_URL',
      'SERVICE_ROLE_KEY',
    ])
    expect(
      Object.keys(auth)
        .filter((name) => !(name in backend))
        .sort(),
    ).toEqual(['PASSWORD_PEPPER', 'REFRESH_KEY', 'SEALING_KEY'])
    expect(new URL(auth['DATABASE_SERVICE_URL']!).username).toBe('stack_auth')
    expect(new URL(backend['DATABASE_SERVICE_URL']!).username).toBe('stack_backend_service')
    expect(backend['DATABASE_URL']).toBe(auth['DATABASE_URL'])
  })

  it('takes variables from wrangler.toml, and hands those about providers to the auth worker', () => {
    const variable = (worker: string, name: string) =>
      test.platform.workers.get(worker)!.current!.metadata.bindings.find((binding) => binding.name === name)?.text
    expect([variable(names.backend, 'REGION'), variable(names.auth, 'REGION')]).toEqual(['eu', undefined])
    expect(variable(names.auth, 'OAUTH_GITHUB_ISSUER')).toBe('https://github.example')
  })

  it('keeps the keys in files of the person alone, and prints none of them', () => {
    for (const name of [`${ref}.json`, 'credentials.json']) {
      expect(fs.statSync(path.join(test.home, 'stack', name)).mode & 0o777).toBe(0o600)
    }
    const values = [
      ...Object.values(test.keys().keys),
      ...Object.values(test.secrets('auth')),
      'owner-secret',
      test.platform.token,
    ]
    expect(values.length).toBeGreaterThan(12)
    for (const value of values) expect(first.stdout + first.stderr).not.toContain(value)
    const folder = path.join(test.root, '.stack/deploy')
    const generated = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(generated.map(({ name }) => name).sort()).toEqual(['auth.json', 'backend.json'])
    for (const { name, parentPath } of generated) {
      const text = fs.readFileSync(path.join(parentPath, name), 'utf8')
      for (const value of values) expect(text).not.toContain(value)
    }
    expect(test.keys().pending).toEqual([])
  })
})

describe('a second push', () => {
  let second: Pushed
  let before: Record<string, string>
  let token: string

  beforeAll(async () => {
    before = { ...test.secrets('auth'), ...test.secrets('backend') }
    ;({ token } = await signIn('ada@example.com'))
    const { json: template } = await test.call(`${management}/templates/receipt`, admin)
    const { status } = await test.call(`${management}/templates/receipt`, {
      method: 'PUT',
      json: { subject: 'Changed by the operator', body: template.body, body_text: template.body_text },
      ...admin,
    })
    expect(status).toBe(200)
    await test.call('/admin/vault/backend/PAYMENTS_SECRET', {
      method: 'PUT',
      json: { value: 'payments-secret' },
      ...admin,
    })
    test.replace('src/extras.ts', "return 'first'", "return 'second'")
    test.replace('src/extras.ts', "name: 'chat'", "name: 'talk'")
    test.replace('src/extras.ts', '17 4 * * *', '23 5 * * *')
    test.write('migrations/0004_more.sql', 'create table more (id int); alter table more enable row level security;\n')
    test.write(
      'stack/roles.json',
      JSON.stringify({
        roles: [{ name: 'customer', default: true }, { name: 'staff', permissions: ['orders.*'] }, { name: 'auditor' }],
      }),
    )
    second = await test.push()
    if (second.code !== 0) throw new Error(second.stderr)
  })

  it('names the webhooks of the last push that answer 404 now', async () => {
    expect(JSON.parse(second.stdout)).toMatchObject({ removed_webhooks: ['chat'], migrations: ['0004_more.sql'] })
    expect(second.stderr).toContain('POST /webhooks/chat answers 404 now')
    expect((await test.call('/webhooks/chat', { method: 'POST', body: '{}' })).status).toBe(404)
    expect((await test.call('/webhooks/talk', { method: 'POST', body: '{}' })).status).toBe(401)
  })

  it('keeps the publishable key', () => {
    expect(JSON.parse(second.stdout).publishable_key).toBe(JSON.parse(first.stdout).publishable_key)
  })

  it('serves the new code under the same keys: tokens, roles and passwords of before stay', async () => {
    expect((await test.call('/extras/limited')).text).toBe('"second"')
    expect({ ...test.secrets('auth'), ...test.secrets('backend') }).toEqual(before)
    expect((await test.call('/staff/orders', { token })).status).toBe(200)
    expect((await signIn('ada@example.com')).token).toMatch(/^ey/)
    const { metadata } = test.platform.workers.get(names.backend)!.current!
    expect(metadata.bindings.filter(({ type }) => type === 'secret_text')).toEqual([])
    expect(metadata.migrations).toBeUndefined()
    expect(test.platform.workers.get(names.backend)!.schedules).toEqual(['23 5 * * *'])
  })

  it('1.3 upserts roles and deletes none, and leaves texts that an operator has changed', async () => {
    const { json: roles } = await test.call(`${management}/roles`, admin)
    expect(roles.data.map(({ name }: { name: string }) => name)).toEqual(['auditor', 'customer', 'manager', 'staff'])
    const { json: template } = await test.call(`${management}/templates/receipt`, admin)
    expect(template.subject).toBe('Changed by the operator')
  })

  it('does not name a secret that is in the vault, and says that no mail is sent', () => {
    expect(second.stderr).not.toContain('PAYMENTS_SECRET')
    expect(second.stderr).toContain('! CODEHOST_SECRET is not set')
    expect(second.stderr).toContain('no sender is set')
  })
})

describe('a push from another machine', () => {
  const elsewhere = () => ({ XDG_CONFIG_HOME: path.join(test.home, 'elsewhere') })

  it('needs a credential for the stack, exit 4, and changes nothing without one', async () => {
    const calls = test.platform.calls.length
    const { code, stderr, stdout } = await test.push([], elsewhere())
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain('set STACK_SERVICE_ROLE_KEY')
    const made = test.platform.calls.slice(calls)
    expect(made.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('refuses a wrong credential before anything is changed', async () => {
    const calls = test.platform.calls.length
    const { code, stderr } = await test.push([], { ...elsewhere(), STACK_SERVICE_ROLE_KEY: 'srk_wrong' })
    expect(code).toBe(4)
    expect(stderr).toContain('--new-keys service_role')
    expect(test.platform.calls.slice(calls).filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('leaves the keys as they are, and repairs a login that no longer opens', async () => {
    const before = { ...test.secrets('auth'), ...test.secrets('backend') }
    await test.sql(`alter role stack_backend password 'changed'`)
    const { code, stderr } = await test.push([], { ...elsewhere(), STACK_SERVICE_ROLE_KEY: admin.headers.apikey })
    expect([code, stderr]).toEqual([0, expect.stringContaining('all keys are at Cloudflare, and stay')])
    expect({ ...test.secrets('auth'), ...test.secrets('backend') }).toEqual(before)
    expect(fs.existsSync(path.join(elsewhere().XDG_CONFIG_HOME, `stack/${ref}.json`))).toBe(false)
    expect((await signIn('ada@example.com')).token).toMatch(/^ey/)
  })

  it('mints the logins anew where the platform lacks a secret of them, for both workers', async () => {
    const before = test.secrets('auth')
    test.platform.workers.get(names.auth)!.current!.secrets.delete('DATABASE_URL')
    const { code, stderr } = await test.push([], { ...elsewhere(), STACK_SERVICE_ROLE_KEY: admin.headers.apikey })
    expect([code, stderr]).toEqual([0, expect.stringContaining('minted logins')])
    expect(test.secrets('auth')['DATABASE_URL']).not.toBe(before['DATABASE_URL'])
    expect(test.secrets('backend')['DATABASE_URL']).toBe(test.secrets('auth')['DATABASE_URL'])
    expect(test.secrets('auth')['SEALING_KEY']).toBe(before['SEALING_KEY'])
    expect((await signIn('ada@example.com')).token).toMatch(/^ey/)
  })

  it('is seen by the first machine, whose copy of the key is old: it leaves the newer one', async () => {
    const before = test.secrets('auth')
    const { code, stderr } = await test.push()
    expect([code, stderr]).toEqual([0, expect.stringContaining('logins in')])
    expect(stderr).toContain('another machine has replaced them')
    expect(test.secrets('auth')).toEqual(before)
    expect((await signIn('ada@example.com')).token).toMatch(/^ey/)
  })
})

describe('keys that are lost', () => {
  it('a new service-role key takes the place of a lost one', async () => {
    const { code } = await test.push(['--new-keys', 'service_role'], { XDG_CONFIG_HOME: path.join(test.home, 'third') })
    expect(code).toBe(0)
    expect((await test.call(`${management}/roles`, admin)).status).toBe(401)
    const file = path.join(test.home, 'third/stack/credentials.json')
    admin = { headers: { apikey: JSON.parse(fs.readFileSync(file, 'utf8'))[ref].service_role_key } }
    expect((await test.call(`${management}/roles`, admin)).status).toBe(200)
    expect(test.secrets('auth')['SERVICE_ROLE_KEY']).toBe(test.secrets('backend')['SERVICE_ROLE_KEY'])
  })

  it('9.15 a sealing key is never replaced while the platform has it', async () => {
    const { code, stderr } = await test.push(['--new-keys', 'sealing'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('a push never replaces it')])
  })

  it('9.15 a stack in use whose sealing key is nowhere is refused, and goes on when the file is back', async () => {
    const { current } = test.platform.workers.get(names.auth)!
    const sealing = current!.secrets.get('SEALING_KEY')!
    current!.secrets.delete('SEALING_KEY')
    const credential = { STACK_SERVICE_ROLE_KEY: admin.headers.apikey }
    const refused = await test.push([], { XDG_CONFIG_HOME: path.join(test.home, 'fourth'), ...credential })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Restore the file from a copy')])
    expect(test.secrets('auth')['SEALING_KEY']).toBeUndefined()
    const { code } = await test.push([], credential)
    expect([code, test.secrets('auth')['SEALING_KEY']]).toEqual([0, sealing])
  })
})
