/** Sends mail over SMTP (RFC 5321). Loaded when the first mail is sent: the library is larger than the rest of the worker. */
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { createTransport } from 'nodemailer'
import type { Message } from '../../../wire/message.ts'
import type { MailSettings } from '../../../wire/settings.ts'
import { oneLine, SendFailed, sendMs } from './failure.ts'

/** What nodemailer adds to an error of the server. */
interface ServerError extends Error {
  /** Three digits. */
  responseCode?: number
  response?: string
  /** The command that was refused: `RCPT TO`, `DATA`, `AUTH …`. */
  command?: string
}

/** @param password of the account, where the settings name one. @throws SendFailed with the server's line. */
export async function sendBySmtp(
  { id, to, from, reply_to, subject, text, html }: Message,
  { host, port, security = 'starttls', username }: Extract<MailSettings, { transport: 'smtp' }>,
  password: string | undefined,
): Promise<void> {
  const isSecure = security === 'tls'
  let socket: Socket | undefined
  const transport = createTransport({
    // the library itself would ask a name server of the internet, which knows no name of a private network
    getSocket(_options, callback) {
      socket = isSecure ? connectTls({ host, port, servername: host }) : connectPlain({ host, port })
      socket.once('error', (error) => callback(error, {}))
      socket.once(isSecure ? 'secureConnect' : 'connect', () =>
        callback(null, { connection: socket, secured: isSecure }),
      )
    },
    host,
    port,
    secure: isSecure,
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(username === undefined ? {} : { auth: { user: username, pass: password ?? '' } }),
    connectionTimeout: sendMs / 2,
    greetingTimeout: sendMs / 2,
    socketTimeout: sendMs / 2,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('the server takes too long')), sendMs)
  const messageId = `<${id}@${(/@([^@>]+)>?$/.exec(from) ?? [])[1] ?? 'localhost'}>`
  try {
    // an object is taken as it is, where a text would be parsed into any number of addresses
    const envelope = { from: addressIn(from).address, to: [to] }
    const mail = { envelope, from: addressIn(from), to: { name: '', address: to }, subject, text, html, messageId }
    await Promise.race([
      transport.sendMail({ ...mail, ...(reply_to === null ? {} : { replyTo: addressIn(reply_to) }) }),
      late,
    ])
  } catch (error) {
    const { responseCode = 0, response, command = '', message } = error as ServerError
    const isFinal = responseCode >= 500 && /^(?:MAIL FROM|RCPT TO|DATA)/.test(command)
    throw new SendFailed(oneLine(response ?? explained(message)), isFinal)
  } finally {
    clearTimeout(timer)
    transport.close()
    socket?.destroy()
  }
}

/** The Workers runtime names no reason for a connection that fails, and takes a failed handshake for a fault of its own. */
function explained(message: string): string {
  const distrust = 'its certificate is not trusted or names another host'
  if (/^internal error; reference/.test(message)) return `TLS with the server failed: ${distrust}`
  return /cannot connect to the specified address/.test(message)
    ? `the server cannot be reached, or ${distrust}`
    : message
}

/** Splits `Name <address>`, which the settings have checked. */
function addressIn(mailbox: string): { name: string; address: string } {
  const [, name = '', address = mailbox] = /^([^<]*?)\s*<([^<>]+)>$/.exec(mailbox) ?? []
  return { name, address }
}
