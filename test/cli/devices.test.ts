/** `stack devices list | revoke` and `stack token --device`, each as a process of its own (contract 10.1, 10.2, 10.5). */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stack } from '../support/command.ts'
import { callAsserted, enrolDevice } from '../support/devices.ts'
import { type Answer, record } from '../support/recorder.ts'
import { type Person, useStack } from '../support/stack.ts'

const attested = useStack('test/edge/attested', {})
const run = (...words: string[]) => stack(words, { cwd: attested.root })
const banner = 'attested/local\n'
const notFound = (id: string) => `${banner}device_not_found: there is no device "${id}"\n`

let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-devices-'))
  fs.mkdirSync(path.join(folder, 'stack'))
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

/** Runs words beside a server that stands in for the stack of an environment. */
async function runBeside(words: string[], answer: Answer, env: Record<string, string> = {}) {
  const { url, requests } = await record(answer)
  const environments = { staging: { ref: 'abcdefghm', url } }
  fs.writeFileSync(path.join(folder, 'stack/project.json'), JSON.stringify({ project: 'shop', environments }))
  const options = { cwd: folder, env: { STACK_SERVICE_ROLE_KEY: 'srk_of_the_recorder', ...env } }
  return { ...(await stack([...words, '--env', 'staging'], options)), requests }
}

describe('devices list', () => {
  it('prints an empty list as JSON', async () => {
    const finished = await run('devices', 'list', '--user', 'usr_nobody')
    const stdout = `${JSON.stringify({ data: [], has_more: false, next_cursor: null }, null, 2)}\n`
    expect(finished).toEqual({ code: 0, stdout, stderr: banner })
  })

  it('prints the devices of one user, page by page, the newest first', async () => {
    const [person, other] = [await attested.signUp(), await attested.signUp()]
    const ids = [await enrolDevice(attested, person), await enrolDevice(attested, person)].map(({ id }) => id).reverse()
    await enrolDevice(attested, other)
    const first = await run('devices', 'list', '--user', person.id, '--limit', '1', '--json')
    const page = JSON.parse(first.stdout)
    expect([first.code, first.stderr, page.data.map(({ id }: { id: string }) => id), page.has_more]).toEqual([
      0,
      banner,
      [ids[0]],
      true,
    ])
    expect(page.data[0]).toMatchObject({ user_id: person.id, environment: 'debug', revoked_at: null })
    const rest = await run('devices', 'list', '--user', person.id, '--cursor', page.next_cursor)
    expect(JSON.parse(rest.stdout).data.map(({ id }: { id: string }) => id)).toEqual([ids[1]])
    const all = JSON.parse((await run('devices', 'list')).stdout).data.map((one: { user_id: string }) => one.user_id)
    expect(all.slice(0, 3)).toEqual([other.id, person.id, person.id])
  })

  it.each([
    [['--limit', 'many'], '--limit takes a whole number, not "many"'],
    [['--user', 'a b'], 'the value of --user holds a space, which a query sent as typed cannot carry'],
    [['--platform', 'ios'], "unknown option '--platform'"],
    [['dev_01ja'], 'too many arguments'],
  ])('%j is a usage error', async (words, sentence) => {
    const { code, stdout, stderr } = await run('devices', 'list', ...words)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(sentence)
  })

  it('a cursor that is none is the stack’s refusal', async () => {
    const { code, stdout, stderr } = await run('devices', 'list', '--cursor', 'x')
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^attested\/local\ninvalid_cursor: /)])
  })
})

describe('devices revoke', () => {
  it('prints the revoked device, which counts for nothing from then on, and again the same', async () => {
    const person = await attested.signUp()
    const device = await enrolDevice(attested, person)
    expect((await callAsserted(attested, device, '/gated', { token: person.token })).status).toBe(200)
    const first = await run('devices', 'revoke', device.id)
    expect([first.code, first.stderr]).toEqual([0, banner])
    expect(JSON.parse(first.stdout)).toMatchObject({ id: device.id, user_id: person.id, revoke_reason: 'revoked' })
    expect(first.stdout).toBe(`${JSON.stringify(JSON.parse(first.stdout), null, 2)}\n`)
    expect(await run('devices', 'revoke', device.id)).toEqual(first)
    expect((await callAsserted(attested, device, '/gated', { token: person.token })).status).toBe(403)
  })

  it('of an unknown device is refused', async () => {
    const id = 'dev_01JA0000000000000000000000'
    expect(await run('devices', 'revoke', id)).toEqual({ code: 1, stdout: '', stderr: notFound(id) })
    expect(await run('devices', 'revoke', 'a/../b')).toEqual({ code: 1, stdout: '', stderr: notFound('a/../b') })
  })

  it('needs one id that a path can carry', async () => {
    for (const words of [[], ['..'], ['dev_1', 'dev_2']]) {
      const { code, stdout } = await run('devices', 'revoke', ...words)
      expect([words, code, stdout]).toEqual([words, 2, ''])
    }
  })
})

describe('beside the stack of an environment', () => {
  const device = { id: 'dev_1', revoke_reason: 'revoked' }
  const ok: Answer = (response) => response.writeHead(200).end(JSON.stringify(device))
  const refusing = (status: number): Answer => {
    const body = { error: 'refused', error_description: 'no', status, request_id: 'req_1' }
    return (response) => response.writeHead(status).end(JSON.stringify(body))
  }

  it('each verb is one request', async () => {
    const list = await runBeside(['devices', 'list', '--user', 'usr_1', '--limit', '7', '--cursor', 'abc'], ok)
    const revoke = await runBeside(['devices', 'revoke', 'dev_1', '--yes'], ok)
    const base = '/v1/management/auth/devices'
    const sent = [list, revoke].map(({ requests }) => requests.map(({ method, url, body }) => [method, url, body]))
    expect(sent).toEqual([[['GET', `${base}?user_id=usr_1&limit=7&cursor=abc`, '']], [['DELETE', `${base}/dev_1`, '']]])
    expect(revoke.requests[0]!.headers['apikey']).toBe('srk_of_the_recorder')
    const stdout = `${JSON.stringify(device, null, 2)}\n`
    for (const { code, stdout: printed, stderr } of [list, revoke]) {
      expect({ code, stdout: printed, stderr }).toEqual({ code: 0, stdout, stderr: 'shop/staging\n' })
    }
  })

  it('a revocation asks first where a script demands it', async () => {
    const confirmed = { STACK_CONFIRM: 'require' }
    const { code, stderr, requests } = await runBeside(['devices', 'revoke', 'dev_1'], ok, confirmed)
    expect([code, requests]).toEqual([2, []])
    expect(stderr).toContain('STACK_CONFIRM=require demands --yes to revoke the device dev_1 on shop/staging')
    expect((await runBeside(['devices', 'revoke', 'dev_1', '--yes'], ok, confirmed)).code).toBe(0)
    expect((await runBeside(['devices', 'list'], ok, confirmed)).code).toBe(0)
  })

  it.each([
    [401, 4],
    [403, 4],
    [404, 1],
    [503, 1],
  ])('%i has the exit code %i', async (status, code) => {
    for (const words of [
      ['devices', 'list'],
      ['devices', 'revoke', 'dev_1'],
    ]) {
      const finished = await runBeside(words, refusing(status))
      expect([finished.code, finished.stdout, finished.stderr]).toEqual([code, '', 'shop/staging\nrefused: no\n'])
    }
  })
})

describe('the help', () => {
  it.each([
    [
      ['devices'],
      [
        'Usage: stack devices <list|revoke>',
        'List and revoke the attested devices of users',
        '$ stack devices revoke dev_01ja',
      ],
    ],
    [
      ['devices', 'list'],
      ['Usage: stack devices list [options]', '--user <user_id>', '--limit <number>', '--cursor <cursor>', '--json'],
    ],
    [
      ['devices', 'revoke'],
      ['Usage: stack devices revoke [options] <device_id>', '--yes', 'the id of the device'],
    ],
    [['token'], ['--device <request>', '--data <document>', "--device 'GET /orders' | curl -H @-"]],
  ])('of %j names what can be given', async (words, texts) => {
    const { code, stdout, stderr } = await run(...words, '--help')
    expect([code, stderr]).toEqual([0, ''])
    for (const text of texts) expect(stdout).toContain(text)
  })

  it('stands in the place of a missing verb', async () => {
    const { code, stdout, stderr } = await run('devices')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Usage: stack devices <list|revoke>')
  })
})

describe('token --device', () => {
  let person: Person
  beforeAll(async () => {
    person = await attested.signUp()
  })

  /** Sends the request with the headers that the command has printed, as `curl -H @-` does. */
  async function send(stdout: string, method: string, target: string, body?: string) {
    const headers = Object.fromEntries(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/: (.*)/s, 2)),
    )
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    return attested.call(target, { method, headers: { ...headers, ...type }, ...(body === undefined ? {} : { body }) })
  }

  it.each([
    ['GET', '/gated', undefined],
    ['GET', `/mine/paged?q='a b'`, undefined],
    ['POST', '/gated/once', '{ "text": "by hand" }'],
  ])('signs %s %s, and no other request', async (method, target, data) => {
    const request = `${method} ${target.replaceAll(' ', '%20')}`
    const words = ['token', person.email, '--device', request, ...(data === undefined ? [] : ['--data', data])]
    const { code, stdout, stderr } = await run(...words)
    expect([code, stderr]).toEqual([0, banner])
    expect((await send(stdout, method, target, data)).status).toBe(200)
    const crossed = await send(stdout, method, target.startsWith('/mine') ? '/gated' : `${target}?a=1`, data)
    expect([crossed.status, crossed.json.error]).toEqual([403, 'device_required'])
    if (data === undefined) return
    expect((await send(stdout, method, target, data)).status).toBe(403) // the nonce is used up
    expect((await send((await run(...words)).stdout, method, target, '{ "text": "another" }')).status).toBe(403)
  })

  it('--json prints the session, the device and the header', async () => {
    const { code, stdout, stderr } = await run('token', person.id, '--device', 'GET /mine', '--json')
    const printed = JSON.parse(stdout)
    expect([code, stderr]).toEqual([0, banner])
    expect(printed).toMatchObject({ access_token: expect.any(String), refresh_token: expect.any(String) })
    const headers = { 'device-assertion': printed.device_assertion }
    const { json } = await attested.call('/mine', { token: printed.access_token, headers })
    expect(json.device.id).toBe(printed.device_id)
  })

  it.each([
    [['--device', 'orders'], '--device takes a method and a path, like "GET /orders", not "orders"'],
    [['--device', 'get /orders'], '--device takes a method and a path'],
    [['--device', 'GET'], '--device takes a method and a path'],
    [['--data', '{}'], '--data is the body of the request that --device names'],
    [['--device', 'POST /orders', '--data', '{'], '--data'],
  ])('%j is a usage error', async (words, sentence) => {
    const { code, stdout, stderr } = await run('token', person.id, ...words)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(sentence)
  })

  it('is refused where the database admits no debug device', async () => {
    await attested.sql(`delete from stack.device_environments where environment = 'debug'`)
    try {
      const { code, stdout, stderr } = await run('token', person.id, '--device', 'GET /mine')
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain('attestation_refused: the attestation was not accepted')
    } finally {
      await attested.sql(`insert into stack.device_environments values ('debug')`)
    }
  })
})
