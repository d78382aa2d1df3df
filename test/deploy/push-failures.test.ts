/** A push that ends before its end: whichever call fails, and whenever it is killed, the next push finishes. */
import * as fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { onFullDisk } from '../support/full-disk.ts'
import { createCounts, killsOf } from '../support/kills.ts'
import { type Pushed, ref, usePush } from '../support/push.ts'

// each push builds, rehearses and migrates
vi.setConfig({ testTimeout: 7_200_000, hookTimeout: 900_000 })

const test = usePush('examples/orders')
const password = 'correct horse battery'
const email = 'ada@example.com'
const signIn = () => test.call('/auth/sign-in/password', { json: { email, password } })

/** Files that a push writes: each is whole, or absent. */
function requireWholeFiles(): void {
  for (const folder of [path.join(test.home, 'stack'), path.join(test.root, '.stack/deploy/staging')]) {
    const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.json')) : []
    for (const name of names) expect(() => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'))).not.toThrow()
  }
}

afterEach(() => {
  test.platform.interfere = () => 'answer'
})

/** Kills a push when its call of this number arrives, or after a time. */
async function killed(
  at: { call: number; when: 'before' | 'after' } | { ms: number },
  args: string[],
): Promise<Pushed> {
  const kill = new AbortController()
  let calls = 0
  const timer = 'ms' in at ? setTimeout(() => kill.abort(), at.ms) : undefined
  if (!('ms' in at)) {
    test.platform.interfere = () => {
      if (calls++ !== at.call) return 'answer'
      kill.abort()
      return at.when === 'before' ? 'cut' : 'cut after'
    }
  }
  const pushed = await test.push(args, {}, { kill: kill.signal })
  clearTimeout(timer)
  test.platform.interfere = () => 'answer'
  return pushed
}

/** Each key with the secret that holds it. */
const keySecrets = {
  claims: 'CLAIMS_KEY',
  service_role: 'SERVICE_ROLE_KEY',
  sealing: 'SEALING_KEY',
  pepper: 'PASSWORD_PEPPER',
  refresh: 'REFRESH_KEY',
} as const
const renewed = 'logins,claims,service_role'

/** A push makes about 35 calls at first, and 30 later: 4 reads, then 10 to 14 for each worker. */
const mostCalls = 35
/** Number of kills of a push, each of which takes seconds. */
const kills = killsOf(5)

describe('a push that is killed again and again', () => {
  const keysNow = () => (fs.existsSync(path.join(test.home, `stack/${ref}.json`)) ? test.keys() : undefined)

  it('is finished by the next one, with the keys of the first', async () => {
    const counts = createCounts('push')
    /** Every key that the file has held. */
    const held = new Set<string>()
    let runMs = 20_000
    let before = keysNow()
    for (let round = 0; round < kills; round++) {
      const part = (round + Math.random()) / kills
      const call = Math.floor(Math.random() * mostCalls)
      const at =
        round % 2 === 0 ? { ms: part * runMs } : ({ call, when: round % 4 === 1 ? 'before' : 'after' } as const)
      const began = performance.now()
      // once there is a whole stack, every push has keys to replace
      const { code, stderr } = await killed(at, before?.pending.length === 0 ? ['--new-keys', renewed] : [])
      expect([at, code === 0 || code === null, code === 0 || code === null ? '' : stderr]).toEqual([at, true, ''])
      if (code === 0) runMs = performance.now() - began
      requireWholeFiles()
      const after = keysNow()
      for (const key of Object.values(after?.keys ?? {})) held.add(key)
      for (const name of before?.pending ?? []) expect([name, after!.keys[name]]).toEqual([name, before!.keys[name]])
      for (const worker of ['auth', 'backend'] as const) {
        const secrets = test.secrets(worker)
        // no party has a key that was not written down
        for (const secret of Object.values(keySecrets)) {
          const isKnown = secrets[secret] === undefined || held.has(secrets[secret])
          expect([at, worker, secret, isKnown]).toEqual([at, worker, secret, true])
        }
      }
      const isSame = JSON.stringify(after) === JSON.stringify(before)
      counts.add(isSame ? 'old' : after!.pending.length > 0 ? 'between' : 'new', code === null)
      before = after
    }
    const last = await test.push()
    expect([last.code, last.stderr]).toEqual([0, expect.stringContaining('backend    version')])
    const { keys, pending } = test.keys()
    expect(pending).toEqual([])
    for (const [name, secret] of Object.entries(keySecrets)) {
      expect([name, test.secrets('auth')[secret]]).toEqual([name, keys[name]])
      if (name in (before?.keys ?? {})) expect([name, keys[name]]).toEqual([name, before!.keys[name]])
    }
    expect((await test.call('/auth/sign-up', { json: { email, password } })).status).toBe(200)
    const { json } = await signIn()
    expect((await test.call('/orders', { token: json.access_token })).status).toBe(200)
    counts.print()
  })
})

describe('a push on a full disk', () => {
  const versions = () => [...test.platform.workers.values()].map((worker) => worker.versions.length)
  const keyFile = () => path.join(test.home, `stack/${ref}.json`)
  /** The keys are on a disk of their own, which takes nothing: their temporary file is a link to a device without space. */
  const fullKeys = ['sh', '-c', `ln -s /dev/full "$HOME/stack/${ref}.json.$$.tmp"; exec "$@"`, 'sh']
  const hasFullDevice = fs.existsSync('/dev/full')
  if (!hasFullDevice) process.stderr.write('There is no /dev/full: a push with a full disk of keys is skipped.\n')

  beforeAll(async () => {
    if (!fs.existsSync(keyFile())) expect(await test.push()).toMatchObject({ code: 0 })
  })

  it.each([
    ['of the project', onFullDisk(), () => path.join(test.root, '.stack'), 'EFBIG'],
    ['of the keys', fullKeys, keyFile, 'ENOSPC'],
  ] as const)('%s: exit 1, the file is named, and nothing is uploaded', async (_which, before, file, code) => {
    if (code === 'ENOSPC' && !hasFullDevice) return
    const earlier = [versions(), fs.readFileSync(keyFile(), 'utf8')]
    const pushed = await test.push(['--new-keys', 'claims'], {}, { before: [...before] })
    expect([pushed.code, pushed.stdout]).toEqual([1, ''])
    expect(pushed.stderr).toMatch(new RegExp(`error: ${file()}\\S* was not written: `))
    expect(pushed.stderr).toContain(`(${code}). What stood there is unchanged. `)
    expect([versions(), fs.readFileSync(keyFile(), 'utf8')]).toEqual(earlier)
    expect(fs.readdirSync(path.join(test.home, 'stack')).filter((name) => name.endsWith('.tmp'))).toEqual([])
    expect((await test.call('/auth/health')).status).toBe(200)
  })
})

describe('a push whose call fails', () => {
  const auth = `/workers/scripts/stack-${ref}-auth`
  const backend = `/workers/scripts/stack-${ref}`
  beforeAll(async () => {
    if ((await signIn()).status !== 200) throw new Error('the stack does not serve')
  })

  it.each([
    ['GET /accounts', 'refuse'],
    ['GET /zones', 'cut'],
    [`GET ${auth}/settings`, 'refuse'],
    [`GET ${backend}/secrets`, 'cut'],
    [`POST ${auth}/versions`, 'cut after'],
    [`POST ${auth}/deployments`, 'refuse'],
    [`PUT ${auth}/routes`, 'cut'],
    [`POST ${backend}/versions`, 'refuse'],
    [`POST ${backend}/deployments`, 'cut after'],
    [`PUT ${backend}/schedules`, 'refuse'],
  ] as const)('is not done, and the stack serves on: %s, %s', async (call, interference) => {
    let seen = 0
    test.platform.interfere = ({ method, path }) => {
      if (`${method} ${path}` !== call) return 'answer'
      seen++
      return interference
    }
    const { code, stdout, stderr } = await test.push()
    expect(seen).toBeGreaterThan(0)
    expect([code === 1 || code === 6, stdout, stderr]).toEqual([true, '', expect.stringContaining('error: ')])
    expect(stderr).not.toContain(String.fromCharCode(27))
    test.platform.interfere = () => 'answer'
    expect((await signIn()).status).toBe(200)
    requireWholeFiles()
  })

  it('a stack that does not answer is exit 6, with what to do', async () => {
    const project = path.join(test.root, 'stack/project.json')
    const before = fs.readFileSync(project, 'utf8')
    fs.writeFileSync(project, before.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'))
    const { code, stderr } = await test.push(['--wait', '2'])
    fs.writeFileSync(project, before)
    expect([code, stderr]).toEqual([6, expect.stringContaining('http://127.0.0.1:1 does not answer')])
  })

  it('a change of keys that ends between the two workers is finished by the next push, as all of the above', async () => {
    const keys = ['logins', 'claims', 'service_role']
    test.platform.interfere = ({ method, path }) =>
      `${method} ${path}` === `POST ${backend}/versions` ? 'cut' : 'answer'
    const first = await test.push(['--new-keys', keys.join(',')])
    expect([first.code, test.keys().pending]).toEqual([1, keys])
    expect(test.secrets('auth')['CLAIMS_KEY']).not.toBe(test.secrets('backend')['CLAIMS_KEY'])
    test.platform.interfere = () => 'answer'
    const { code } = await test.push()
    expect([code, test.keys().pending]).toEqual([0, []])
    for (const name of ['CLAIMS_KEY', 'DATABASE_URL', 'SERVICE_ROLE_KEY']) {
      expect([name, test.secrets('auth')[name]]).toEqual([name, test.secrets('backend')[name]])
    }
    const { json } = await signIn()
    expect((await test.call('/orders', { token: json.access_token })).status).toBe(200)
  })
})
