/** A message ends after its time, however a server holds it. The time is 4 s here and not 20 s. */
import { expect, it, vi } from 'vitest'

vi.mock('../../src/auth/mail/senders/failure.ts', async (original) => ({
  ...((await original()) as object),
  sendMs: 4_000,
}))

import { sendByHttp } from '../../src/auth/mail/senders/http.ts'
import { sendBySmtp } from '../../src/auth/mail/senders/smtp.ts'
import { gateway, rawServer } from '../support/mail-server.ts'

const message = {
  id: 'msg_00000000000000000000000001',
  template: 'reset_password',
  channel: 'email',
  to: 'ada@example.com',
  from: 'shop@example.com',
  reply_to: null,
  subject: 'x',
  text: 'x',
  html: 'x',
} as const

/** Milliseconds after which the servers give up themselves, so that a sender without an end is told from one that ends. */
const serverMs = 40_000

it('with a mail server that sends a line now and then', async () => {
  const { port } = await rawServer((socket) => {
    socket.write('220 ready\r\n')
    const timer = setInterval(() => socket.write('250-more\r\n'), 300)
    const end = setTimeout(() => socket.destroy(), serverMs)
    socket.on('close', () => {
      clearInterval(timer)
      clearTimeout(end)
    })
  })
  const settings = { transport: 'smtp', from: message.from, host: '127.0.0.1', port, security: 'none' } as const
  await expect(sendBySmtp(message, settings, undefined)).rejects.toThrow('the server takes too long')
})

it('with a gateway that never answers', async () => {
  const { url } = await gateway((request) => void setTimeout(() => request.socket.destroy(), serverMs).unref())
  await expect(sendByHttp(message, url, undefined)).rejects.toThrow('TimeoutError')
})
