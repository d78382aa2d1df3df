/** Passwords that are known from breaches, against a service in the same process: what it is told, and what its answers decide. */
import { createHash } from 'node:crypto'
import { afterEach, expect, it, vi } from 'vitest'

const warn = vi.hoisted(() => vi.fn())
vi.mock('@stack/backend', async (original) => {
  const { withoutDecorators } = await import('../support/auth-module.ts')
  return { ...(await withoutDecorators(original)), Log: { warn } }
})

import { Breaches } from '../../src/auth/passwords/breaches.ts'

const digits = createHash('sha1').update('password1').digest('hex').toUpperCase()
const rest = digits.slice(5)
const asked = vi.spyOn(globalThis, 'fetch')
const refuse = async (answer: BodyInit) => {
  asked.mockImplementation(async () => new Response(answer))
  const settings = { breach_check_url: 'https://breaches.example/range/' }
  return new Breaches().refuse('password1', settings).then(
    () => 'taken',
    ({ code }: { code: string }) => code,
  )
}

afterEach(() => {
  asked.mockReset()
  warn.mockReset()
})

it.each([
  [`${rest}:3`, 'invalid_password'],
  [`${rest.toLowerCase()}:1\r`, 'invalid_password'],
  [`${'0'.repeat(35)}:7\r\n${rest}:12\r\n`, 'invalid_password'],
  [`${rest}:0`, 'taken'],
  [`${'0'.repeat(35)}:7`, 'taken'],
  ['', 'taken'],
])('a range with %j: %s', async (range, outcome) => {
  expect(await refuse(range)).toBe(outcome)
  expect(warn).not.toHaveBeenCalled()
})

it('the service learns 5 digits of the digest, and sends the question nowhere else', async () => {
  await refuse('')
  const [address, init] = asked.mock.calls[0]!
  expect(address).toBe(`https://breaches.example/range/${digits.slice(0, 5)}`)
  expect(init).toMatchObject({ redirect: 'manual', signal: expect.any(AbortSignal) })
})

it('an answer without end is given up after 256 KiB, and the log says that the password was not checked', async () => {
  let chunks = 0
  const pull = (body: ReadableStreamDefaultController) =>
    ++chunks > 40 ? body.close() : body.enqueue(new Uint8Array(65_536).fill(65))
  expect(await refuse(new ReadableStream({ pull }))).toBe('taken')
  expect([chunks < 10, warn.mock.calls.length]).toEqual([true, 1])
})
