/** A password is sent unasked only to a server that has asked for that very password in clear text (contract 5.4). */
import net from 'node:net'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { keysAt } from '../../../local/keys.ts'
import { useStack } from '../../support/stack.ts'

/** The bytes that arrived before the server's first message, and the login that they name. */
const unasked: { user: string; bytes: string }[] = []

/** A proxy that passes a connection on after 100 ms, so that bytes sent unasked are seen. */
const slow = net.createServer((client) => {
  const received: Buffer[] = []
  client.on('error', () => {})
  client.on('data', (data) => received.push(data))
  setTimeout(() => {
    client.removeAllListeners('data')
    const bytes = Buffer.concat(received)
    unasked.push({ user: bytes.toString('latin1').match(/user\0([^\0]*)/)?.[1] ?? '', bytes: bytes.toString('latin1') })
    const upstream = net.connect(Number(new URL(probe.stack.record.database_url).port), '127.0.0.1')
    upstream.on('error', () => {}).on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
    upstream.write(bytes)
    client.pipe(upstream).pipe(client)
  }, 100)
})

const passwordsIn = (root: string) => keysAt(path.join(root, '.stack/keys.json')).passwords

const probe = useStack('test/edge/probe', async (root) => {
  const passwords = passwordsIn(root)
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  const { port } = slow.address() as net.AddressInfo
  const url = (login: 'stack_backend' | 'stack_backend_service') =>
    `postgresql://${login}:${encodeURIComponent(passwords[login])}@127.0.0.1:${port}/postgres?sslmode=disable`
  return {
    STACK_POOL: 'off',
    PROBE_SECRET: 'secret',
    DATABASE_URL: url('stack_backend'),
    DATABASE_SERVICE_URL: url('stack_backend_service'),
  }
})

afterAll(() => {
  slow.close()
})

it('one login’s password is not sent unasked because the server has asked for another’s', async () => {
  const { token } = await probe.signUp()
  const ask = (as: 'caller' | 'service') => probe.call(`/sql/${as}`, { token, json: [{ text: 'select 1' }] })
  for (const as of ['caller', 'caller', 'service', 'service'] as const) expect((await ask(as)).status).toBe(200)
  const passwords = Object.values(passwordsIn(probe.root))
  const sent = unasked.map(({ user, bytes }) => [user, passwords.some((one) => bytes.includes(one))])
  expect(sent).toEqual([
    ['stack_backend', false],
    ['stack_backend', true],
    ['stack_backend_service', false],
    ['stack_backend_service', true],
  ])
})
