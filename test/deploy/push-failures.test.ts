/** A push that ends before its end: whichever call fails, and whenever it is killed, the next push finishes. */
import * as fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Pushed, ref, usePush } from '../support/push.ts'

// each push builds, rehearses and migrates
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

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
async function killed(at: { call: number; when: 'before' | 'after' } | { ms: number }): Promise<Pushed> {
  const kill = new AbortController()
  let calls = 0
  if ('ms' in at) setTimeout(() => kill.abort(), at.ms)
  else {
    test.platform.interfere = () => {
      if (calls++ !== at.call) return 'answer'
      kill.abort()
      return at.when === 'before' ? 'cut' : 'cut after'
    }
  }
  return test.push([], {}, { kill: kill.signal })
}

describe('a first push that is killed again and again', () => {
  it('is finished by the next one, with the keys of the first', async () => {
    await killed({ ms: 2_000 + Math.random() * 20_000 })
    requireWholeFiles()
    // the calls of a first push: 4 reads, then 10 to 14 for each worker
    const keys: string[] = []
    for (const when of ['before', 'after'] as const) {
      for (let round = 0; round < 2; round++) {
        const call = 4 + Math.floor(Math.random() * 30)
        const { code } = await killed({ call, when })
        expect([call, when, code === 0 || code === null]).toEqual([call, when, true])
        requireWholeFiles()
        if (fs.existsSync(path.join(test.home, `stack/${ref}.json`))) keys.push(test.keys().keys['sealing']!)
      }
    }
    const last = await test.push()
    expect([last.code, last.stderr]).toEqual([0, expect.stringContaining('backend    version')])
    expect(new Set([...keys, test.keys().keys['sealing'], test.secrets('auth')['SEALING_KEY']]).size).toBe(1)
    expect(test.keys().pending).toEqual([])
    expect((await test.call('/auth/sign-up', { json: { email, password } })).status).toBe(200)
    const { json } = await signIn()
    expect((await test.call('/orders', { token: json.access_token })).status).toBe(200)
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
