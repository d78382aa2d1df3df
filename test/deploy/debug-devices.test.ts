/** 3.7 Debug devices on stacks that are not local: which bundles have them, and what a stack that has them still asks for. */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { type DebugDeviceOptions, enrolDebugDevice } from '../../cli/shared/debug-device.ts'
import { locateProject } from '../../cli/shared/project.ts'
import { buildBoth } from '../../deploy/cloudflare/preparation.ts'
import { bundlesOf } from '../../deploy/serve/builds.ts'
import { packageRoot, stack } from '../support/command.ts'
import { createOwned, useExternalPostgres } from '../support/external-postgres.ts'
import { copyProject, temporaryFolder } from '../support/project.ts'
import { usePush } from '../support/push.ts'
import { type Served, startServed } from '../support/served.ts'
import { type CallOptions, call } from '../support/stack.ts'

// each test builds, and some push or serve
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const project = 'test/edge/attested'

/** A copy of the project, whose environment `lab` has debug devices. */
function projectWithLab(): string {
  const root = path.join(temporaryFolder(), 'project')
  copyProject(path.join(packageRoot, project), root)
  const environments = {
    lab: { ref: 'aaaaaaaam', url: 'https://lab.example.com', debug_devices: true },
    live: { ref: 'bbbbbbbbm', url: 'https://live.example.com' },
  }
  fs.writeFileSync(path.join(root, 'stack/project.json'), JSON.stringify({ project: 'attested', environments }))
  return root
}

/** Texts that the verifier of debug devices alone has. */
const debugTexts = ['stack-debug-device-1', 'debug_device_tokens', 'ddt_', '/auth/devices/debug']

/** @returns which of them stand in the files of a bundle. */
function debugTextsIn(out: string): string[] {
  const whole = fs
    .readdirSync(out)
    .map((name) => fs.readFileSync(path.join(out, name), 'utf8'))
    .join('\n')
  return debugTexts.filter((text) => whole.includes(text))
}

describe('a bundle', () => {
  it('has debug devices only where its environment is marked, whatever was built in its folder before', async () => {
    const root = projectWithLab()
    const { project, roles } = locateProject(root)
    const pushed = path.join(root, '.stack/auth/out')
    for (const hasDebugDevices of [true, false, true, false]) {
      await buildBoth(root, project, roles, 'paid', hasDebugDevices)
      expect(debugTextsIn(pushed)).toEqual(hasDebugDevices ? debugTexts : [])
    }
    for (const [words, expected] of [
      [['--env', 'lab'], debugTexts],
      [['--env', 'live'], []],
      [['--env', 'lab'], debugTexts],
      [[], []],
    ] as const) {
      expect((await stack(['build', '--project', root, ...words])).code).toBe(0)
      expect([words, debugTextsIn(pushed)]).toEqual([words, expected])
    }
    expect((await stack(['build', '--project', root, '--env', 'other'])).code).toBe(2)
  })

  it('of stack serve has none, and is not that of stack start', async () => {
    const root = projectWithLab()
    const { project, roles } = locateProject(root)
    const local = path.join(root, '.stack/auth-local/out')
    fs.mkdirSync(local, { recursive: true })
    fs.writeFileSync(path.join(local, 'worker.js'), 'the bundle of stack start')
    await buildBoth(root, project, roles, 'paid', true)
    const { auth } = await bundlesOf({ root, project, roles, built: undefined })
    expect([path.relative(root, auth), debugTextsIn(auth)]).toEqual(['.stack/auth/out', []])
    expect(fs.readFileSync(path.join(local, 'worker.js'), 'utf8')).toBe('the bundle of stack start')
  })
})

interface Reached {
  call: (address: string, options?: CallOptions) => ReturnType<typeof call>
  url: string
  apikey: string
}

async function signUp({ call }: Reached): Promise<string> {
  const json = { email: `person-${crypto.randomUUID()}@example.com`, password: 'correct horse battery' }
  expect((await call('/auth/sign-up', { json })).status).toBe(200)
  return (await call('/auth/sign-in/password', { json })).json.access_token
}

const enrol = ({ url }: Reached, accessToken: string, options: Partial<DebugDeviceOptions> = {}) =>
  enrolDebugDevice({ baseUrl: url, accessToken, ...options })

/** @param sql runs as the superuser in the database of the stack. */
async function expectLocks(reached: Reached, sql: (text: string) => Promise<unknown>): Promise<void> {
  const token = await signUp(reached)
  const tokens = '/v1/management/auth/debug-device-tokens'
  const headers = { apikey: reached.apikey }
  const issue = async () => (await reached.call(tokens, { headers, json: { days: 1, label: 'a pipeline' } })).json
  // a token is asked for before the attestation is looked at
  await expect(enrol(reached, token)).rejects.toMatchObject({ status: 403 })
  await expect(enrol(reached, token, { debugToken: `ddt_${'A'.repeat(43)}` })).rejects.toMatchObject({ status: 403 })
  const [good, ended, late] = [await issue(), await issue(), await issue()]
  // a database of production refuses the device of a good token
  await expect(enrol(reached, token, { debugToken: good.token })).rejects.toMatchObject({ status: 422 })
  await sql(`insert into stack.device_environments values ('debug')`)
  const device = await enrol(reached, token, { debugToken: good.token })
  const assertion = device.assertionFor({ method: 'GET', target: '/mine', accessToken: token })
  const signed = await reached.call('/mine', { token, headers: { 'device-assertion': assertion } })
  expect(signed.json.device).toMatchObject({ id: device.id, environment: 'debug', keyStorage: 'software' })
  // without a token, with one that was ended, and with one that has expired
  expect((await reached.call(`${tokens}/${ended.id}`, { method: 'DELETE', headers })).status).toBe(204)
  await sql(`update auth.debug_device_tokens set created_at = now() - interval '2 days', expires_at = now() - interval '1 day'
    where id = '${late.id}'`)
  for (const debugToken of [undefined, ended.token, late.token, good.id]) {
    await expect(enrol(reached, token, { debugToken })).rejects.toMatchObject({ status: 403 })
  }
  await sql(`delete from stack.device_environments where environment = 'debug'`)
  const after = await reached.call('/mine', { token, headers: { 'device-assertion': assertion } })
  expect([after.status, after.json.device]).toEqual([200, null])
}

async function expectNone(reached: Reached): Promise<void> {
  const token = await signUp(reached)
  for (const address of ['/auth/devices/debug/challenge', '/auth/devices/debug']) {
    const json = { platform: 'ios', application_key: 'shop' }
    // a path below `/auth/devices/` names a device, which is only read and removed
    expect([404, 405]).toContain((await reached.call(address, { token, json })).status)
  }
  const headers = { apikey: reached.apikey }
  const issued = await reached.call('/v1/management/auth/debug-device-tokens', { headers, json: { days: 1 } })
  expect(issued.status).toBe(404)
  await expect(enrol(reached, token)).rejects.toThrow(/no debug devices|405/)
}

describe('stack serve', () => {
  const external = useExternalPostgres()

  it('enrols no debug device, and says so of a build that does, which asks for a token', async () => {
    const root = projectWithLab()
    const databaseUrl = await createOwned(external)
    const serving = async (flags: string[], expected: (served: Served & Reached) => Promise<void>) => {
      const served = await startServed({ project, root, databaseUrl, flags: ['--workers', '1', ...flags] })
      const reach: Reached['call'] = (address, options) => call(`${served.url}${address}`, options)
      try {
        await expected({ ...served, call: reach, apikey: served.secrets()['SERVICE_ROLE_KEY']! })
      } finally {
        served.signal('SIGTERM')
        await served.finished
      }
    }
    await serving([], async (served) => {
      expect(served.output()).not.toContain('debug devices')
      await expectNone(served)
    })
    const out = path.join(root, 'lab')
    expect((await stack(['build', '--project', root, '--env', 'lab', '--out', out])).code).toBe(0)
    await serving(['--out', out], async (served) => {
      expect(served.output()).toContain(
        `the build in ${out} takes debug devices: a key of theirs proves nothing about a device`,
      )
      await expectLocks(served, (text) => external.sql(text, new URL(databaseUrl).pathname.slice(1)))
    })
  })
})

describe('stack push', () => {
  const pushed = usePush(project)
  let apikey: string

  const push = async (debug_devices: boolean) => {
    const declared = JSON.parse(fs.readFileSync(path.join(pushed.root, 'stack/project.json'), 'utf8'))
    const staging = { ...declared.environments.staging, debug_devices }
    pushed.write('stack/project.json', JSON.stringify({ ...declared, environments: { staging } }))
    const finished = await pushed.push()
    expect([finished.code, finished.code === 0 ? '' : finished.stderr]).toEqual([0, ''])
    apikey = (
      Object.values(JSON.parse(fs.readFileSync(path.join(pushed.home, 'stack/credentials.json'), 'utf8')))[0] as {
        service_role_key: string
      }
    ).service_role_key
    return finished.stderr
  }
  const reached = (): Reached => ({ call: pushed.call, url: pushed.platform.edge, apikey })

  it('asks for a token where the environment is marked, and says that it is', async () => {
    expect(await push(true)).toContain('this environment takes debug devices')
    await expectLocks(reached(), pushed.sql)
  })

  it('enrols none where it is not', async () => {
    expect(await push(false)).not.toContain('debug devices')
    await expectNone(reached())
  })
})
