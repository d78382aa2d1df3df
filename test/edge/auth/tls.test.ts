/** TLS to mail servers: a trusted certificate for the right host, and no other. */
import { expect, it, vi } from 'vitest'
import { mailServer } from '../../support/mail-server.ts'
import { useStack } from '../../support/stack.ts'

/** miniflare reads the certificates that workerd trusts when it is loaded. */
const { right, wrong, untrusted } = await vi.hoisted(async () => {
  const { selfSigned } = await import('../../support/certificates.ts')
  const files = await import('node:fs')
  const folder = files.mkdtempSync(`${process.env['TMPDIR'] ?? '/tmp'}/stack-trust-`)
  const made = { right: selfSigned('localhost', { ip: true }), wrong: selfSigned('other.example') }
  files.writeFileSync(`${folder}/trusted.pem`, made.right.cert + made.wrong.cert)
  process.env['NODE_EXTRA_CA_CERTS'] = `${folder}/trusted.pem`
  return { ...made, untrusted: selfSigned('localhost', { ip: true }) }
})

const shop = useStack('examples/orders')

const send = async (host: string, port: number, security: string) => {
  const headers = { apikey: shop.stack.record.service_role_key }
  const mail = { from: 'shop@example.com', transport: 'smtp', host, port, security }
  const rate_limits = { test_messages: { attempts: 1_000, seconds: 1 } }
  await shop.call('/v1/management/auth/settings', { method: 'PUT', headers, json: { mail, rate_limits } })
  const to = `${crypto.randomUUID()}@example.com`
  return shop.call('/v1/management/auth/templates/password_changed/send-test', { headers, json: { to } })
}

it.each(['localhost', '127.0.0.1'])(
  'a mail reaches %s with TLS from the first byte, and with STARTTLS',
  async (host) => {
    const implicit = await mailServer({ secure: true, ...right })
    const upgraded = await mailServer(right)
    for (const [server, security] of [
      [implicit, 'tls'],
      [upgraded, 'starttls'],
    ] as const) {
      expect((await send(host, server.port, security)).json).toMatchObject({ status: 'sent', transport: 'smtp' })
      expect(server.taken.map(({ isSecure }) => isSecure)).toEqual([true])
    }
  },
)

it.each([
  ['another host', () => wrong],
  ['a server that is not trusted', () => untrusted],
])('a certificate of %s is refused, with a reason', async (_what, certificate) => {
  const implicit = await mailServer({ secure: true, ...certificate() })
  const upgraded = await mailServer(certificate())
  for (const host of ['localhost', '127.0.0.1']) {
    for (const [server, security] of [
      [implicit, 'tls'],
      [upgraded, 'starttls'],
    ] as const) {
      const { json } = await send(host, server.port, security)
      expect(json).toMatchObject({ error: 'sender_failed', status: 502 })
      expect(json.error_description).toContain('its certificate is not trusted or names another host')
      expect(server.taken).toEqual([])
    }
  }
})
