/** 3.7 A signed request makes as many round trips to the database as one without a device, on both kinds of connection. */
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { DebugDevice } from '../../../cli/shared/debug-device.ts'
import { keysAt } from '../../../local/keys.ts'
import { connectionKinds } from '../../support/connections.ts'
import { callAsserted, enrolDevice } from '../../support/devices.ts'
import { FaultProxy, type Phase } from '../../support/fault-proxy.ts'
import { type Answer, type Person, useStack } from '../../support/stack.ts'

describe.each(connectionKinds)('$kind', ({ isKept, variables }) => {
  const upstreamPort = () => Number(new URL(stack.stack.record.database_url).port)
  const [caller, service] = [new FaultProxy(upstreamPort), new FaultProxy(upstreamPort)]
  const stack = useStack('test/edge/attested', async (root) => {
    const { passwords } = keysAt(path.join(root, '.stack/keys.json'))
    const url = (login: 'stack_backend' | 'stack_backend_service', { port }: FaultProxy) =>
      `postgresql://${login}:${encodeURIComponent(passwords[login])}@127.0.0.1:${port}/postgres?sslmode=disable`
    return {
      ...variables,
      DATABASE_URL: url('stack_backend', await caller.listen()),
      DATABASE_SERVICE_URL: url('stack_backend_service', await service.listen()),
    }
  })
  let owner: Person
  let device: DebugDevice

  beforeAll(async () => {
    owner = await stack.signUp()
    device = await enrolDevice(stack, owner)
    await plain('/mine')() // loads the driver, which may try two kinds of authentication
    await signed('/mine')()
  })
  afterAll(() => Promise.all([caller.close(), service.close()]))

  const plain = (target: string, json?: unknown) => () => stack.call(target, { token: owner.token, json })
  const signed = (target: string, json?: unknown) => () =>
    callAsserted(stack, device, target, { token: owner.token, json })
  const forged = (target: string, json?: unknown) => () =>
    callAsserted(stack, device, target, { token: owner.token, json, signs: { target: '/' } })

  const settled = () =>
    vi.waitUntil(() => (isKept ? ['return', undefined].includes(caller.flights.at(-1)) : caller.open === 0))

  /** The answer, and the flights of the request. Those that open its connection are told apart, because the pool may have one. */
  async function flightsOf(send: () => Promise<Answer>) {
    await settled()
    caller.flights.length = 0
    service.flights.length = 0
    const before = caller.connections
    const answer = await send()
    await settled()
    const isOpening = (phase: Phase) => phase === 'start-up' || phase === 'password'
    const opening = caller.flights.filter(isOpening)
    return {
      answer,
      flights: caller.flights.filter((phase) => !isOpening(phase)),
      opening: isKept ? [] : [caller.connections - before, ...opening],
      service: [...service.flights],
    }
  }

  /** A connection that the pool keeps is emptied after the answer. */
  const end: Phase[] = isKept ? ['return'] : []

  it('reads the device in the flight that reads the grants', async () => {
    const [without, held, refused] = [
      await flightsOf(plain('/mine')),
      await flightsOf(signed('/mine')),
      await flightsOf(forged('/mine')),
    ]
    expect([without.answer, held.answer, refused.answer].map(({ json }) => json.device?.id)).toEqual([
      undefined,
      device.id,
      undefined,
    ])
    for (const { answer: _, ...trips } of [held, refused]) {
      const { answer: __, ...expected } = without
      expect(trips).toEqual(expected)
    }
    expect([without.flights, without.service]).toEqual([['bind', ...end], []])
  })

  it('adds nothing to a handler that writes, also where the nonce is consumed', async () => {
    const json = { text: 'written' }
    const { answer, ...without } = await flightsOf(plain('/mine/handled', json))
    const { answer: answerSigned, ...held } = await flightsOf(signed('/mine/handled', json))
    const { answer: answerOnce, ...once } = await flightsOf(signed('/gated/once', json))
    expect([answer.json.device, answerSigned.json.device.id, answerOnce.json.device]).toEqual([
      null,
      device.id,
      device.id,
    ])
    expect([held, once]).toEqual([without, without])
    expect(without.flights).toEqual(['bind', 'statement', 'commit', ...end])
  })

  it('awaits one COMMIT more where the nonce is all that was written', async () => {
    const { answer, flights } = await flightsOf(signed('/gated/nothing', {}))
    expect([answer.status, flights]).toEqual([200, ['bind', 'commit', ...end]])
    const read = await flightsOf(signed('/gated'))
    expect([read.answer.status, read.flights]).toEqual([200, ['bind', ...end]])
  })

  it('makes none for a gate whose header is missing or does not hold', async () => {
    for (const send of [plain('/gated'), forged('/gated'), forged('/gated/once', { text: 'x' })]) {
      const before = caller.connections
      const { answer, flights } = await flightsOf(send)
      expect([answer.status, answer.json.error, flights]).toEqual([403, 'device_required', []])
      expect(caller.connections).toBe(before)
    }
  })

  it('looks at no header where neither the rule nor the handler asks for a device', async () => {
    for (const send of [plain('/open/plain'), signed('/open/plain'), forged('/open/plain')]) {
      const { answer, flights } = await flightsOf(send)
      expect([answer.status, answer.json, flights]).toEqual([200, 'plain', []])
    }
    const idOf = async (target: string) => (await forged(target)()).headers.get('x-request-id')
    const [silent, told] = [await idOf('/open/plain'), await idOf('/mine')]
    const tells = (line: Record<string, unknown>, id: string | null) =>
      line['request_id'] === id && line['message'] === 'the request has no attested device'
    await stack.logged((line) => tells(line, told)) // lines of later requests come later
    expect(stack.log.filter((line) => tells(line, silent))).toEqual([])
  })
})
