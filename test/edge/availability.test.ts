/**
 * A flood of one client costs only its own requests (contract 2.11, 5.7). Beside each flood, no request of another user
 * fails, and the memory of the runtime stays bounded.
 */
import { createHmac } from 'node:crypto'
import * as fs from 'node:fs'
import { it as base, describe, expect } from 'vitest'
import { processes } from '../../local/processes.ts'
import { type Flood, type Header, huge, repeated, stalled, type Target, unread } from '../support/floods.ts'
import { type Person, useStack } from '../support/stack.ts'

/**
 * Duration of each flood in seconds: 4 show a fault that is always there. For rare ones, set a longer time:
 * `STACK_FLOOD_SECONDS=60 npm test -- test/edge/availability.test.ts`.
 */
const seconds = Number(process.env['STACK_FLOOD_SECONDS'] ?? 4)
/** Bytes in one MiB. */
const mebibyte = 1_048_576
/**
 * Largest growth of the runtime in MiB. Bodies share 64 MiB, and V8 collects garbage late because its heap has no limit here.
 * A flood of chunked uploads of 100 MB levels off at 300 above the start. A runtime that buffered them would take gigabytes.
 */
const mostGrowth = 350

const secret = 'a secret of a webhook'
const probe = useStack('test/edge/probe', { PROBE_SECRET: 'secret', ONCE_SECRET: secret, ROTATED_SECRET: secret })

const it = base
  .extend('attacker', { scope: 'file' }, () => probe.signUp())
  .extend('plain', { scope: 'file' }, async () => {
    const person = await probe.signUp()
    for (let warm = 0; warm < 20; warm++) await probe.call('/mine', { token: person.token })
    return person
  })

/** @returns the resident memory in MiB of the workerd that this process has started. */
function residentMebibytes(): number {
  const workerd = processes().find(({ parent, command }) => parent === process.pid && /\bworkerd\b/.test(command))
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${workerd!.pid}/status`, 'utf8'))!
  return Number(kilobytes) / 1024
}

const signedIn = ({ token }: Person): Header[] => [['authorization', `Bearer ${token}`]]
const at = (target: string, headers: readonly Header[] = []): Target => ({ url: probe.url, target, headers })

/** @returns one signed delivery. Every repetition of it is a copy. */
function delivery(id: string): Target & { method: string; body: string } {
  const body = JSON.stringify({ id, type: 'takes.long' })
  const time = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  return { ...at('/webhooks/once', [['x-payments-signature', `t=${time},v1=${signature}`]]), method: 'POST', body }
}

const forged: Header[] = [
  ['x-hub-signature-256', `sha256=${'0'.repeat(64)}`],
  ['x-github-event', 'push'],
]

const floods: Record<string, (attacker: Person) => Flood> = {
  'copies of one delivery whose handler is slow': () => repeated(delivery(`evt_${crypto.randomUUID()}`), 25),
  'forged deliveries to a webhook that records': () =>
    repeated({ ...at('/webhooks/rotated', forged), method: 'POST', body: '{}' }, 10),

  'bodies of an account that stall after one byte': (attacker) =>
    stalled(at('/bodies/limited/inherited', signedIn(attacker)), 60),
  'sign-ups that stall after one byte': () => stalled(at('/auth/sign-up'), 60),
  'bodies that stall inside a handler': (attacker) => stalled(at('/bodies/waiting', signedIn(attacker)), 60),
  'sign-ups of 100 MB': () => huge(at('/auth/sign-up'), 4, 100 * mebibyte, false),
  'sign-ups of 100 MB without a stated length': () => huge(at('/auth/sign-up'), 4, 100 * mebibyte, true),
  'bodies of 100 MB without a stated length': () => huge(at('/bodies/default'), 4, 100 * mebibyte, true),
  'streams of 100 MB to a handler': () => huge(at('/bodies/streamed'), 4, 100 * mebibyte, true),
  'handlers that wait in their transactions': (attacker) =>
    repeated({ ...at('/mine/pausing/waits?seconds=9', signedIn(attacker)), method: 'POST' }, 60),
  'statements that sleep': (attacker) =>
    repeated({ ...at('/mine/slow/sleeps?seconds=8', signedIn(attacker)), method: 'POST' }, 60),
  'anonymous handlers that wait in their transactions': () => repeated({ ...at('/request/asleep'), method: 'GET' }, 60),
  'clients that read no answer': () => unread(at('/request/large'), 20),
}

const isLinux = process.platform === 'linux'
if (!isLinux) process.stderr.write('the floods are skipped: memory is read from /proc\n')

describe.runIf(isLinux)('beside', () => {
  it.for(Object.keys(floods))(
    '%s: nobody else fails',
    { timeout: seconds * 1_000 + 60_000 },
    async (name, { attacker, plain }) => {
      const before = residentMebibytes()
      const flood = floods[name]!(attacker)
      const failures: unknown[] = []
      let asked = 0
      let most = before
      for (const end = Date.now() + seconds * 1_000; Date.now() < end; asked++) {
        const { status, text } = await probe.call('/mine', { token: plain.token })
        if (status !== 200) failures.push([status, text])
        most = Math.max(most, residentMebibytes())
      }
      const sent = flood.sent()
      await flood.stop()
      expect(failures).toEqual([])
      expect(most - before).toBeLessThan(mostGrowth)
      expect([sent > 0, asked > 2]).toEqual([true, true])
      // After the flood, the attacker's own requests are served again.
      await expect
        .poll(async () => (await probe.call('/mine', { token: attacker.token })).status, { timeout: 15_000 })
        .toBe(200)
    },
  )
})
