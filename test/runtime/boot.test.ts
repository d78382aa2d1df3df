/** What an isolate does at its first request: it names its webhooks, and logs rejections that no code handles (contract 7.10). */
import { afterEach, expect, it, vi } from 'vitest'
import { createBoot } from '../../runtime/boot.ts'
import { beginCall } from '../../runtime/call.ts'
import type { RouteTable } from '../../runtime/table.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

it('happens once, however many requests come', () => {
  const listen = vi.fn()
  vi.stubGlobal('addEventListener', listen)
  const nameSecrets = vi.fn()
  const boot = createBoot({ webhooks: [] } as unknown as RouteTable, nameSecrets)
  const context = { waitUntil() {} } as unknown as ExecutionContext
  const call = beginCall(new Request('https://shop.example/'), { STACK_WORKER: 'shop' }, context)
  for (let request = 0; request < 3; request += 1) boot(call)
  expect([listen.mock.calls.length, nameSecrets.mock.calls.length]).toEqual([1, 1])

  const lines: Record<string, unknown>[] = []
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(JSON.parse(line)))
  const [event, handler] = listen.mock.calls[0]!
  handler({ reason: new TypeError('lost') })
  expect(event).toBe('unhandledrejection')
  expect(lines).toMatchObject([
    { level: 'error', message: 'a promise was rejected, and no code handled it', error: 'TypeError: lost' },
  ])
})
