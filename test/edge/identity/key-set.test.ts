/**
 * The key set over HTTP, in workerd (contract 3.2). The probe's bundle uses one address for each case, and the test moves
 * its clock.
 */
import * as fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { Log, LogLevel, Miniflare, type Request as MiniflareRequest, Response as MiniflareResponse } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { build } from '../../../build/index.ts'
import { packageRoot } from '../../support/command.ts'
import { type KeyAnswer, KeyServer } from '../../support/key-server.ts'
import { copyProject, targetOf } from '../../support/project.ts'
import { sendRaw } from '../../support/raw.ts'
import { call } from '../../support/stack.ts'
import { compact, createIssuer } from '../../support/tokens.ts'

const server = new KeyServer()
await server.listen()
const [first, second] = [await createIssuer('key-1'), await createIssuer('key-2')]
const setOf = (...issuers: (typeof first)[]) => JSON.stringify({ keys: issuers.map(({ jwk }) => jwk) })

const now = Math.floor(Date.now() / 1000)
/** Valid for a day, because a test moves the worker's clock by hours. */
const claims = { iat: now, exp: now + 86_400 }
const token = await first.token(claims)
const next = await second.token(claims)

/** An entry before the bundle's own. A header of the request sets the bindings of its case, and the time. */
const entry = `
import { AsyncLocalStorage } from 'node:async_hooks'
import worker from './worker.js'
const ahead = new AsyncLocalStorage()
const real = Date.now.bind(Date)
Date.now = () => real() + (ahead.getStore() ?? 0)
export default {
  fetch(request, env, context) {
    const { bindings, seconds, isBound } = JSON.parse(request.headers.get('x-circumstances'))
    const { AUTH, ...others } = env
    const given = { ...others, ...bindings, ...(isBound ? { AUTH } : {}) }
    return ahead.run(seconds * 1000, () => worker.fetch(request, given, context))
  },
}`

/** Faults of a key set's address. */
const broken: Record<string, KeyAnswer> = {
  '500': (response) => response.writeHead(500).end(setOf(first)),
  '404': (response) => response.writeHead(404).end(setOf(first)),
  '206': (response) => response.writeHead(206).end(setOf(first)),
  '301': (response) => response.writeHead(301, { location: server.url('/elsewhere') }).end(),
  '302 that carries a set': (response) =>
    response.writeHead(302, { location: server.url('/elsewhere') }).end(setOf(first)),
  '307': (response) => response.writeHead(307, { location: '/elsewhere' }).end(),
  '308': (response) => response.writeHead(308, { location: '/elsewhere' }).end(),
  '304': (response) => response.writeHead(304).end(),
  'a page': (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>sign in</title>'),
  nothing: '',
  'half of it': setOf(first).slice(0, -3),
  'a list': JSON.stringify([first.jwk]),
  null: 'null',
  'keys that are no list': JSON.stringify({ keys: { 0: first.jwk } }),
  'an empty list': '{"keys":[]}',
  'no key of ours': JSON.stringify({ keys: [null, 1, { ...first.jwk, use: 'enc' }, { kty: 'RSA', kid: 'key-1' }] }),
  'more than 512 KiB': `${setOf(first)}${' '.repeat(512 * 1024)}`,
  'bytes without an end': (response) => {
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(64 * 1024)));
    }
    response.writeHead(200).on('drain', more)
    more()
  },
  'a cut': (response) => {
    response.writeHead(200, { 'content-length': 10_000 })
    response.write(setOf(first), () => response.destroy())
  },
  'a reset': (response) => (response.socket as net.Socket).resetAndDestroy(),
  silence: () => {},
  'silence after its beginning': (response) => response.writeHead(200).write('{"keys":['),
}
const kinds = Object.keys(broken)

/** Addresses that the worker must never fetch, although they serve the right keys. */
const refusedAddresses: Record<string, string> = {
  'http beyond loopback': server.url('/unasked').replace('127.0.0.1', '0.0.0.0'),
  data: `data:application/json,${encodeURIComponent(setOf(first))}`,
  'no URL': 'jwks.json',
}

interface Case {
  address: string
  seed?: string
  /** The binding `STACK_URL`. */
  base?: string
  /** The auth worker is bound. */
  isBound?: true
}
const own = (name: string): Case => ({ address: server.url(`/${name}`) })
const cases: Record<string, Case> = {
  ...Object.fromEntries(
    ['cold', 'flood', 'leavers', 'added', 'removed', 'forged', 'outage'].map((name) => [name, own(name)]),
  ),
  seeded: { ...own('seeded'), seed: setOf(first) },
  ...Object.fromEntries(kinds.map((kind, index) => [`cold ${kind}`, own(`cold-${index}`)])),
  ...Object.fromEntries(kinds.map((kind, index) => [`warm ${kind}`, { ...own(`warm-${index}`), seed: setOf(first) }])),
  ...Object.fromEntries(Object.entries(refusedAddresses).map(([what, address]) => [what, { address }])),
}
/** The source of the key set by `STACK_URL` (contract 9.14), which the `Host` of a request never changes (contract 1.2). */
const sources: Record<string, Case & { isOwn: boolean }> = {
  'a foreign set, no STACK_URL': { ...own('foreign-1'), isBound: true, isOwn: false },
  'a foreign set, another STACK_URL': {
    ...own('foreign-2'),
    isBound: true,
    base: 'https://stack.example',
    isOwn: false,
  },
  'a set beside the auth worker': { ...own('authentic/keys'), isBound: true, base: server.url(''), isOwn: false },
  'a set above the stack': { ...own('auth/keys-1'), isBound: true, base: server.url('/below'), isOwn: false },
  'the stack’s own, and no auth worker': { ...own('auth/keys-2'), base: server.url(''), isOwn: false },
  'the stack’s own': { ...own('auth/keys-3'), isBound: true, base: server.url(''), isOwn: true },
  'the stack’s own, with a slash': { ...own('auth/keys-4'), isBound: true, base: server.url('/'), isOwn: true },
  'the stack’s own below a path': {
    ...own('below/auth/keys-5'),
    isBound: true,
    base: server.url('/below'),
    isOwn: true,
  },
  'the stack’s own, at a private http address': {
    address: 'http://10.0.0.5/auth/keys-6',
    isBound: true,
    base: 'http://10.0.0.5',
    isOwn: true,
  },
}
Object.assign(cases, sources)
/** Paths that were requested of the auth worker over its binding. */
const askedOverBinding: string[] = []

const pathOf = (name: string) => new URL(cases[name]!.address).pathname

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-edge-'))
let runtime: Miniflare
const log: string[] = []
let url: string

beforeAll(async () => {
  copyProject(path.join(packageRoot, 'test/edge/probe'), root)
  const { roles } = JSON.parse(fs.readFileSync(path.join(root, 'stack/roles.json'), 'utf8'))
  const { built } = await build(
    targetOf(
      root,
      roles.map(({ name }: { name: string }) => name),
    ),
  )
  expect(built).toBeDefined()
  const out = path.join(root, '.stack/out')
  const modules = fs
    .readdirSync(out)
    .filter((name) => name.endsWith('.js'))
    .map((name) => ({ type: 'ESModule' as const, path: name, contents: fs.readFileSync(path.join(out, name), 'utf8') }))
  runtime = new Miniflare({
    cf: false,
    log: new Log(LogLevel.NONE),
    structuredWorkerdLogs: true,
    handleStructuredLogs({ message }: { message: string }) {
      log.push(message)
    },
    host: '127.0.0.1',
    modules: [{ type: 'ESModule', path: 'entry.js', contents: entry }, ...modules],
    serviceBindings: {
      AUTH(request: MiniflareRequest) {
        askedOverBinding.push(new URL(request.url).pathname)
        return new MiniflareResponse(setOf(second))
      },
    },
    compatibilityDate: '2026-07-30',
    compatibilityFlags: ['nodejs_compat'],
  })
  url = String(await runtime.ready).replace(/\/$/, '')
})

afterAll(async () => {
  await runtime?.dispose()
  await server.close()
  fs.rmSync(root, { recursive: true, force: true })
})

/** Seconds by which the clock of a case is ahead of the real time. */
const clocks = new Map<string, number>()
const circumstances = (name: string) => {
  const { address, seed, base, isBound } = cases[name]!
  const bindings = {
    AUTH_JWKS_URL: address,
    ...(seed === undefined ? {} : { AUTH_JWKS: seed }),
    ...(base === undefined ? {} : { STACK_URL: base }),
  }
  return { 'x-circumstances': JSON.stringify({ bindings, seconds: clocks.get(name) ?? 0, isBound }) }
}

/**
 * Requests a route that requires a user and asks nothing of the database.
 * @param ahead seconds by which the case's clock is ahead from now on.
 */
const enter = async (name: string, token: string, ahead?: number) => {
  if (ahead !== undefined) clocks.set(name, ahead)
  return (await call(`${url}/gates/object`, { token, headers: circumstances(name) })).status
}
/** Requests a public route. */
const open = async (name: string, token: string) => {
  const { status, json } = await call(`${url}/gates/false`, { token, headers: circumstances(name) })
  return [status, json]
}
const nobody = [200, { user: null }]
const times = <T>(count: number, make: (index: number) => T) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

/** Holds back every answer of an address. */
function held(name: string, body: string) {
  const waiting: http.ServerResponse[] = []
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  server.answer(pathOf(name), (response) => {
    waiting.push(response)
    resolve()
  })
  return {
    asked,
    release() {
      server.answer(pathOf(name), body)
      for (const response of waiting.splice(0)) response.end(body)
    },
  }
}

/**
 * Sends a number of tokens over 16 connections that stay open.
 * @returns how often each status came.
 */
async function flood(name: string, count: number, tokenOf: (index: number) => string) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
  const statuses: Record<string, number> = {}
  let index = 0
  const one = (token: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, ...circumstances(name) }
      http
        .get(`${url}/gates/object`, { agent, headers }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode!))
        })
        .on('error', reject)
    })
  await times(16, async () => {
    while (index < count) {
      const status = await one(tokenOf(index++))
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  })
  agent.destroy()
  return statuses
}

describe('one refresh at a time, one for each window', () => {
  it('a hundred cold requests make one fetch, and all are answered', async () => {
    const { asked, release } = held('cold', setOf(first))
    const answers = times(100, () => enter('cold', token))
    await asked
    // The last request waits behind those that were sent before it.
    await open('cold', 'none')
    release()
    expect(await answers).toEqual(Array(100).fill(200))
    expect(server.requests(pathOf('cold'))).toBe(1)
  })

  it('ten thousand unknown kids make none inside the window, and one after it', async () => {
    server.answer(pathOf('flood'), setOf(first))
    expect(await enter('flood', token)).toBe(200)
    const unknown = (index: number) => compact({ alg: 'ES256', kid: `unknown-${index}` }, { sub: 'usr_1', ...claims })
    expect(await flood('flood', 10_000, unknown)).toEqual({ 401: 10_000 })
    expect(server.requests(pathOf('flood'))).toBe(1)
    expect(await enter('flood', token, 301)).toBe(200)
    expect(await flood('flood', 1_000, unknown)).toEqual({ 401: 1_000 })
    expect(server.requests(pathOf('flood'))).toBe(2)
  })

  it('a thousand forged signatures make none inside the window, and one after it', async () => {
    server.answer(pathOf('forged'), setOf(first))
    expect(await enter('forged', token)).toBe(200)
    const forged = () => compact({ alg: 'ES256', kid: 'key-1' }, { sub: 'usr_1', ...claims })
    expect(await flood('forged', 1_000, forged)).toEqual({ 401: 1_000 })
    expect(server.requests(pathOf('forged'))).toBe(1)
    expect(await enter('forged', forged(), 301)).toBe(401)
    expect(await flood('forged', 1_000, forged)).toEqual({ 401: 1_000 })
    expect(server.requests(pathOf('forged'))).toBe(2)
  })

  it('clients that go away during the cold fetch strand nobody: not the first, whose request made it, nor any other', async () => {
    const { asked, release } = held('leavers', setOf(first))
    const { hostname, port, host } = new URL(url)
    const leavers = Array.from({ length: 10 }, () => net.connect(Number(port), hostname))
    const headers = { host, authorization: `Bearer ${token}`, ...circumstances('leavers') }
    const lines = Object.entries(headers).map((header) => header.join(': '))
    const request = `GET /gates/object HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
    leavers[0]!.write(request)
    await asked
    for (const leaver of leavers.slice(1)) leaver.write(request)
    const answers = times(50, () => enter('leavers', token))
    await open('leavers', 'none')
    await Promise.all(
      leavers.map((leaver) => {
        leaver.on('error', () => {})
        const gone = new Promise((resolve) => leaver.once('close', resolve))
        leaver.resetAndDestroy()
        return gone
      }),
    )
    await open('leavers', 'none')
    release()
    expect(await answers).toEqual(Array(50).fill(200))
    expect(server.requests(pathOf('leavers'))).toBe(1)
    expect(await enter('leavers', token)).toBe(200)
  })
})

describe('rotation', () => {
  it('a key that was added is refused inside the window, and accepted after it', async () => {
    server.answer(pathOf('added'), setOf(first))
    expect(await enter('added', token)).toBe(200)
    server.answer(pathOf('added'), setOf(first, second))
    expect(await enter('added', next, 295)).toBe(401)
    expect(server.requests(pathOf('added'))).toBe(1)
    expect(await enter('added', next, 301)).toBe(200)
    expect(await enter('added', token)).toBe(200)
    expect(server.requests(pathOf('added'))).toBe(2)
  })

  it('a key that was removed is refused after the window, though nobody brings another one', async () => {
    server.answer(pathOf('removed'), setOf(first))
    expect(await enter('removed', token)).toBe(200)
    const { asked, release } = held('removed', setOf(second))
    // The old keys serve, and the refresh runs in the background.
    expect(await enter('removed', token, 301)).toBe(200)
    await asked
    release()
    await expect.poll(() => enter('removed', token), { timeout: 10_000 }).toBe(401)
    expect(await enter('removed', next)).toBe(200)
    expect(server.requests(pathOf('removed'))).toBe(2)
  })
})

describe('AUTH_JWKS', () => {
  it('seeds the set: no request waits for the address', async () => {
    const { asked, release } = held('seeded', setOf(second))
    expect(await enter('seeded', token)).toBe(200)
    expect(await open('seeded', 'none')).toEqual(nobody)
    await asked
    release()
    await expect.poll(() => enter('seeded', next), { timeout: 10_000 }).toBe(200)
    expect(server.requests(pathOf('seeded'))).toBe(1)
  })
})

describe('an address that fails', () => {
  it('for an hour: every good token enters, with one try for each window', async () => {
    server.answer(pathOf('outage'), setOf(first))
    expect(await enter('outage', token)).toBe(200)
    server.answer(pathOf('outage'), broken['500']!)
    for (let minute = 1; minute <= 60; minute++) {
      expect(await enter('outage', token, 60 * minute)).toBe(200)
      expect(await enter('outage', next)).toBe(401)
    }
    expect(server.requests(pathOf('outage')) - 1).toBeLessThanOrEqual(12)
    server.answer(pathOf('outage'), setOf(first, second))
    expect(await enter('outage', next, 3600 + 301)).toBe(200)
  })

  describe.concurrent.each(kinds)('with %s', (kind) => {
    it('cold: 401 where a user is required, nobody where none is; and it is asked again', async () => {
      const name = `cold ${kind}`
      server.answer(pathOf(name), broken[kind]!)
      const [entered, opened] = await Promise.all([
        times(5, () => enter(name, token)),
        times(5, () => open(name, token)),
      ])
      expect(entered).toEqual(Array(5).fill(401))
      expect(opened).toEqual(Array(5).fill(nobody))
      expect(server.requests(pathOf(name))).toBe(1)
      server.answer(pathOf(name), setOf(first))
      expect(await enter(name, token, 30)).toBe(200)
      expect(server.requests(pathOf(name))).toBe(2)
    })

    it('warm: what was there serves on', async () => {
      const name = `warm ${kind}`
      server.answer(pathOf(name), broken[kind]!)
      expect(await times(5, () => enter(name, token))).toEqual(Array(5).fill(200))
      await vi.waitUntil(() => server.requests(pathOf(name)) === 1, { interval: 5, timeout: 10_000 })
      expect(await enter(name, next)).toBe(401) // It waits until the fetch has failed.
      expect(await times(5, () => enter(name, token))).toEqual(Array(5).fill(200))
      expect(server.requests(pathOf(name))).toBe(1)
      server.answer(pathOf(name), setOf(first, second))
      expect(await enter(name, next, 301)).toBe(200)
    })
  })

  it('a redirect is not followed, and each failure is a line of the log', () => {
    expect(server.requests('/elsewhere')).toBe(0)
    const failed = new Set(
      log.flatMap((line) => (line.includes('could not be refreshed') ? [JSON.parse(line).address] : [])),
    )
    const addresses = kinds.flatMap((kind) => [cases[`cold ${kind}`]!.address, cases[`warm ${kind}`]!.address])
    expect(addresses.filter((address) => !failed.has(address))).toEqual([])
  })

  it.each(Object.keys(refusedAddresses))('is not asked when it is %s', async (what) => {
    expect(await enter(what, token)).toBe(401)
    expect(await open(what, token)).toEqual(nobody)
    expect(server.requests('/unasked')).toBe(0)
  })
})

describe('1.2 the request’s Host never chooses where a key comes from', () => {
  it.each(Object.keys(sources))('%s', async (name) => {
    const { address, isOwn } = sources[name]!
    server.answer(pathOf(name), setOf(first))
    const [good, bad] = isOwn ? [next, token] : [token, next]
    const enterAs = async (host: string, bearer: string) => {
      const headers: [string, string][] = [
        ['authorization', `Bearer ${bearer}`],
        ...Object.entries(circumstances(name)),
      ]
      return (await sendRaw({ url, method: 'GET', target: '/gates/object', host, headers })).status
    }
    const hosts = [new URL(address).host, new URL(url).host, 'stack.example', 'attacker.example']
    const before = askedOverBinding.length
    for (const host of hosts) {
      expect([host, await enterAs(host, good), await enterAs(host, bad)]).toEqual([host, 200, 401])
    }
    expect(server.requests(pathOf(name))).toBe(isOwn ? 0 : 1)
    // A path in the base URL belongs to a proxy, which strips it before the auth worker.
    const asked = askedOverBinding.slice(before)
    expect(asked).toEqual(isOwn ? [`/auth/${address.split('/auth/')[1]}`] : [])
  })
})
