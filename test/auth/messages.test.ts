/**
 * What decides in messages: the outbox, what is made of its rows, senders, templates, and the messages of the project (contract 9.11).
 * Classes of the auth module run in Node against a real Postgres.
 */
import * as v from 'valibot'
import { beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))

import { Audit } from '../../src/auth/audit/rows.ts'
import { Limits } from '../../src/auth/limits/rows.ts'
import { MailAdmission } from '../../src/auth/mail/admission.ts'
import { Catalogue, type DeclaredKey } from '../../src/auth/mail/catalogue.ts'
import { Delivery } from '../../src/auth/mail/delivery.ts'
import { Notices } from '../../src/auth/mail/notices.ts'
import { type NewMessage, Outbox } from '../../src/auth/mail/outbox.ts'
import { Preparation } from '../../src/auth/mail/preparation.ts'
import { requireRecipient } from '../../src/auth/mail/recipients.ts'
import { presented } from '../../src/auth/mail/schemas.ts'
import { oneLine, SendFailed } from '../../src/auth/mail/senders/failure.ts'
import { sendByHttp } from '../../src/auth/mail/senders/http.ts'
import { Senders } from '../../src/auth/mail/senders/index.ts'
import { sendBySmtp } from '../../src/auth/mail/senders/smtp.ts'
import { OneTimeTokens } from '../../src/auth/mail/tokens.ts'
import { values } from '../../src/auth/mail/values.ts'
import { MessagesController } from '../../src/auth/messages/routes.ts'
import { Credentials } from '../../src/auth/providers/credentials.ts'
import { PhoneSettingsReader } from '../../src/auth/providers/phone-settings.ts'
import { ProviderStates, Providers } from '../../src/auth/providers/rows.ts'
import { SettingsRows } from '../../src/auth/settings/rows.ts'
import { inRequest } from '../../src/auth/shared/sql.ts'
import { TemplatesController } from '../../src/auth/templates/routes.ts'
import { requireDeclaration, textsWith } from '../../src/auth/templates/schemas.ts'
import { type ShownTemplate, shown } from '../../src/auth/templates/shown.ts'
import { TestMessages } from '../../src/auth/templates/test-messages.ts'
import { Users } from '../../src/auth/users/rows.ts'
import type { Message } from '../../src/wire/message.ts'
import { useAuthModule } from '../support/auth-module.ts'
import { gateway, mailServer, refusal } from '../support/mail-server.ts'
import { titled } from '../support/titles.ts'

const auth = useAuthModule()
const { request, codeOf, atOnce, sql } = auth

const sent: Message[] = []
let failure: Error | undefined
let transport: string | undefined
/** Takes every message, or fails with `failure`. */
const sender = {
  send: async (message: Message) => {
    if (failure) throw failure
    sent.push(message)
  },
  transportOf: async () => transport,
} as never

const audit = new Audit()
const limits = new Limits()
const settings = new SettingsRows()
const phoneSettings = new PhoneSettingsReader(new Providers())
const users = new Users()
const tokens = new OneTimeTokens(limits, settings)
const catalogue = new Catalogue()
const outbox = new Outbox()
const preparation = new Preparation(catalogue, phoneSettings, new ProviderStates(), tokens, users)
const delivery = new Delivery(limits, outbox, preparation, sender, settings)
const credentials = new Credentials()
const senders = new Senders(credentials, phoneSettings)
const tests = new TestMessages(audit, catalogue, limits, phoneSettings, sender, settings)
const templates = new TemplatesController(audit, catalogue, settings, tests)
const messages = new MessagesController(catalogue, delivery, limits, phoneSettings, sender, settings, users)

const client = { ip: '192.0.2.7', country: null, user_agent: 'Evil: call +1 900 now', request_id: 'req_1' }
const http = new Request('https://stack.example/v1/management/auth')
const operator = (id: string) => ({ id }) as never
let count = 0
let id: string
let email: string

beforeEach(async () => {
  sent.length = 0
  failure = undefined
  transport = 'mailbox'
  id = `usr_${count++}`
  email = `${id}@example.com`
  await sql(`delete from auth.outbox; delete from auth.one_time_tokens; delete from auth.rate_limits; delete from auth.templates;
    delete from auth.project_templates; delete from stack.audit; update auth.settings set document = '{}'`)
  await phone({}, true)
  await sql('insert into auth.users (id, email) values ($1, $2)', [id, email])
})

const configure = (document: object) => sql('update auth.settings set document = $1', [document])
const phone = (config: object, enabled: boolean) =>
  sql(`update auth.providers set config = $1, enabled = $2 where name = 'phone'`, [config, enabled])
const limit = (name: string, attempts: number) => configure({ rate_limits: { [name]: { attempts, seconds: 86_400 } } })
const queue = (message: Partial<NewMessage> = {}) =>
  request(() => outbox.queue({ template: 'password_changed', recipient: email, userId: id, ...message }))
const claim = (ids: string[] | null = null, most = 100) => request(() => outbox.claim(ids, most))
const deliver = () => request(() => delivery.deliverDue())
const becomeDue = () => sql('update auth.outbox set next_attempt_at = now()')
const rowOf = async (message: string) => {
  const [row] = await sql<{ status: string; attempts: number; last_error: string | null; variables: object }>(
    'select status, attempts, last_error, variables from auth.outbox where id = $1',
    [message],
  )
  return row!
}
const counted = (codes: string[]) =>
  [...new Set(codes)].sort().map((code) => [code, codes.filter((one) => one === code).length])
const audited = async () => {
  const rows = await sql<{ event_type: string; outcome: string; actor_id: string | null }>(
    'select event_type, outcome, actor_id from stack.audit order by id',
  )
  return rows.map((row) => [row.event_type, row.outcome, row.actor_id])
}

describe('a message that waits', () => {
  it('is taken when it is due, by as many as are asked for, and until it is sent', async () => {
    const ids = [await queue(), await queue(), await queue()]
    expect((await claim(null, 2)).length).toBe(2)
    expect((await claim()).length).toBe(1)
    expect(await claim()).toEqual([])
    await request(() => outbox.settle(ids[0]!, 'sent', null, inRequest))
    await becomeDue()
    expect((await claim([ids[0]!, ids[1]!])).map((one) => one.id)).toEqual([ids[1]])
  })

  it('is taken by one worker, also while another is just taking it', async () => {
    const message = await queue()
    const { other } = await request(async () => {
      await inRequest`update auth.outbox set next_attempt_at = now() + interval '1 minute' where id = ${message}`
      let isOver = false
      const other = outbox.claim(null, 1).finally(() => {
        isOver = true
      })
      const isBlocked = async () =>
        (await sql(`select from pg_stat_activity where wait_event_type = 'Lock'`)).length > 0
      while (!isOver && !(await isBlocked()));
      return { other }
    })
    expect(await other).toEqual([])
  })

  it('is sent once, and keeps none of its values', async () => {
    const message = await queue({ variables: { ip: '192.0.2.7' } })
    await deliver()
    await becomeDue()
    await deliver()
    expect([sent.map((one) => one.id), await rowOf(message)]).toEqual([
      [message],
      { status: 'sent', attempts: 1, last_error: null, variables: {} },
    ])
  })

  it('is tried eight times, and then given up', async () => {
    failure = new SendFailed('not now', false)
    const message = await queue()
    const states = []
    for (let attempt = 1; attempt <= 9; attempt++) {
      await becomeDue()
      await deliver()
      const { status, attempts } = await rowOf(message)
      states.push(`${status} ${attempts}`)
    }
    expect(states.slice(-3)).toEqual(['queued 7', 'dead 8', 'dead 8'])
  })

  it('is given up at once where the other side refuses it for good', async () => {
    failure = new SendFailed('550 no such mailbox', true)
    const message = await queue()
    await deliver()
    expect(await rowOf(message)).toMatchObject({ status: 'dead', attempts: 1, last_error: '550 no such mailbox' })
  })

  it('has a long error of one line in its row', async () => {
    failure = new Error(`a\r\n${'x'.repeat(5_000)}`)
    const message = await queue()
    await deliver()
    expect((await rowOf(message)).last_error).toMatch(/^Error: a x{400,}$/)
    expect(oneLine(`\u0000a\n\tb${'c'.repeat(600)}`)).toBe(`a b${'c'.repeat(497)}`)
  })

  it('of a template that is gone is dropped, and none of it is sent', async () => {
    const message = await queue({ template: 'gone' as DeclaredKey })
    await deliver()
    expect([sent, (await rowOf(message)).status]).toEqual([[], 'dropped'])
  })

  it('is one of fifty that a run takes', async () => {
    await sql(`insert into auth.outbox (id, template, recipient)
      select 'msg_' || lpad(n::text, 26, '0'), 'gone', 'a@example.com' from generate_series(1, 51) n`)
    await deliver()
    expect(await sql(`select from auth.outbox where status = 'queued'`)).toHaveLength(1)
  })

  it('counts against its address by the day, once for all its attempts', async () => {
    await limit('mail_per_recipient_daily', 2)
    failure = new SendFailed('not now', false)
    const first = await queue()
    for (let attempt = 0; attempt < 4; attempt++) {
      await becomeDue()
      await deliver()
    }
    failure = undefined
    await becomeDue()
    await deliver()
    const [second, third] = [await queue(), await queue({ recipient: 'other@example.com', userId: null })]
    await deliver()
    const fourth = await queue()
    await deliver()
    const states = await Promise.all([first, second, third, fourth].map(rowOf))
    expect(states.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent', 'dropped'])
  })

  it('of the project does not count against the mails of the stack', async () => {
    await limit('mail_per_recipient_daily', 1)
    await declare('numbers')
    for (let time = 0; time < 2; time++) await queue({ template: 'numbers' as DeclaredKey })
    await deliver()
    expect(sent).toHaveLength(2)
  })

  it('with which its reader acts goes with a change of the account, and a notice stays', async () => {
    await sql('insert into auth.users (id) values ($1) on conflict do nothing', ['usr_other'])
    const own = [
      await queue({ template: 'reset_password', variables: { a: '1' } }),
      await queue({ template: 'password_changed' }),
      await queue({ template: 'email_change_notice' }),
      await queue({ template: 'reset_password', userId: 'usr_other' }),
    ]
    const states = async () => (await Promise.all(own.map(rowOf))).map(({ status }) => status)
    await request(() => outbox.dropOf(id))
    expect(await states()).toEqual(['dropped', 'queued', 'queued', 'queued'])
    expect((await rowOf(own[0]!)).variables).toEqual({})
    await request(() => outbox.dropOf(id, true))
    expect(await states()).toEqual(['dropped', 'queued', 'dropped', 'queued'])
    await request(() => outbox.settle(own[0]!, 'sent', null, inRequest))
    expect((await rowOf(own[0]!)).status).toBe('dropped')
  })

  it('is kept for a month after its end, and as long as it waits', async () => {
    const [old, fresh, waiting] = [await queue(), await queue(), await queue()]
    await sql(`update auth.outbox set status = 'sent' where id = any ($1)`, [[old, fresh]])
    await sql(`update auth.outbox set created_at = now() - interval '31 days' where id = any ($1)`, [[old, waiting]])
    await request(() => outbox.forgetSettled())
    const left = await sql<{ id: string }>('select id from auth.outbox')
    expect(left.map((one) => one.id).sort()).toEqual([fresh, waiting].sort())
  })
})

describe('what is made of a message', () => {
  const prepared = async (message: Partial<NewMessage> = {}, age = 0) => {
    const queued = await queue(message)
    await sql('update auth.outbox set created_at = now() - make_interval(mins => $2) where id = $1', [queued, age])
    const [row] = await claim([queued])
    return request(async () => preparation.prepare(row!, (await settings.read()).document, inRequest))
  }
  const templateOf = async (message: Partial<NewMessage>) => (await prepared(message))?.template

  it('is nothing for a disabled account, nor for an address without an account', async () => {
    const byAddress = { template: 'reset_password', userId: null } as const
    expect([await templateOf({}), await templateOf(byAddress)]).toEqual(['password_changed', 'reset_password'])
    expect(await templateOf({ ...byAddress, recipient: 'nobody@example.com' })).toBe(undefined)
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect([await templateOf({}), await templateOf(byAddress)]).toEqual([undefined, undefined])
  })

  it('is a confirmation for the present address alone, as long as it waits for one', async () => {
    const confirm = { template: 'confirm_email' } as const
    expect(await templateOf(confirm)).toBe('confirm_email')
    expect(await templateOf({ ...confirm, recipient: 'former@example.com' })).toBe(undefined)
    await sql('update auth.users set email_confirmed_at = now() where id = $1', [id])
    expect(await templateOf(confirm)).toBe(undefined)
  })

  it('is a link to the site for an hour, and a code for ten minutes', async () => {
    await configure({ site_url: 'https://shop.example/app/?a=b#c' })
    const { text } = (await prepared({ template: 'reset_password' }))!
    const [, token] = /https:\/\/shop\.example\/app\/auth\/password\/reset\?token=([\w-]{43})\b/.exec(text)!
    const found = await request(() => tokens.find('reset_password', { token: token! }))
    expect(found).toMatchObject({ user_id: id, target: email })
    const lives = await sql(`select extract(epoch from expires_at - created_at)::int as link,
      extract(epoch from code_expires_at - created_at)::int as code from auth.one_time_tokens`)
    expect(lives).toEqual([{ link: 3_600, code: 600 }])
  })

  it('lets the owner of an address choose a password where two have signed up with it', async () => {
    const contested = { template: 'existing_account', userId: null } as const
    await configure({ confirm_email_required: true })
    await sql(`insert into auth.password_credentials (user_id, phc) values ($1, '$argon2id$x')`, [id])
    const passwords = () => sql('select from auth.password_credentials where user_id = $1', [id])
    const issue = { purpose: 'confirm_email', userId: id, target: email } as const
    const { token } = await request(() => tokens.issue(issue, 60, { seconds: 60, digits: 6 }))
    const isLive = async () => (await request(() => tokens.find('confirm_email', { token }))) !== undefined
    await sql('update auth.users set email_confirmed_at = now() where id = $1', [id])
    expect([await templateOf(contested), await passwords(), await isLive()]).toEqual(['existing_account', [{}], true])
    await sql('update auth.users set email_confirmed_at = null where id = $1', [id])
    expect([await templateOf(contested), await passwords(), await isLive()]).toEqual(['reset_password', [], false])
  })

  const text = { template: 'phone_otp', channel: 'sms', recipient: '+4915112345678', userId: null } as const

  it('is no code that nobody waits for, and none while phone is disabled', async () => {
    expect((await prepared(text, 14))?.to).toBe('+4915112345678')
    expect(await prepared(text, 16)).toBe(undefined)
    await phone({}, false)
    expect(await prepared(text)).toBe(undefined)
  })

  it('is a code of the length and life of the settings, for its number', async () => {
    await phone({ otp_length: 8, otp_ttl_seconds: 120 }, true)
    const code = /\d{8}/.exec((await prepared(text))!.text)![0]
    const attempt = (target: string) => request(() => tokens.find('phone_sign_in', { target, code }))
    expect([await attempt('+4915112345679'), await attempt('+4915112345678')]).toMatchObject([undefined, {}])
    const [row] = await sql(
      `select extract(epoch from code_expires_at - created_at)::int as life from auth.one_time_tokens`,
    )
    expect(row).toEqual({ life: 120 })
  })

  it('has the code in every text, also where the settings name another one', async () => {
    await sql(`insert into auth.project_templates (key, channel, body, subject, variables) values
      ('empty', 'sms', 'No code', null, '[]'), ('mail', 'email', '{{code}}', 'x', '[]'), ('ours', 'sms', 'Ours {{code}}', null, '[]')`)
    const texts = []
    for (const template_key of ['empty', 'mail', 'ours']) {
      await phone({ template_key }, true)
      texts.push((await prepared(text))!.text.replace(/\d{6}/, '#').slice(0, 9))
    }
    expect(texts).toEqual(['# is your', '# is your', 'Ours #'])
  })
})

describe('a notice', () => {
  const queued: NewMessage[] = []
  const notices = new Notices({ queue: async (message: NewMessage) => void queued.push(message) } as never)

  it('goes to the address that it is told, names a known device alone, and is none without an address', async () => {
    await notices.toUser({ id, email }, 'email_changed', client, { new_email: 'new@example.com' }, 'former@example.com')
    await notices.toUser({ id, email: null }, 'password_changed', client)
    expect(queued).toEqual([
      {
        template: 'email_changed',
        recipient: 'former@example.com',
        userId: id,
        variables: expect.objectContaining({ device: 'unknown device', ip: '192.0.2.7' }),
      },
    ])
  })
})

describe('mail that a client asks for', () => {
  const admission = new MailAdmission(limits)
  const admit = (to: string, ip = '192.0.2.7') => codeOf(() => admission.admit(to, { ...client, ip }))

  it('counts against its address', async () => {
    await limit('mail_per_recipient', 1)
    const codes = [
      await admit('a@example.com'),
      await admit('a@example.com', '198.51.100.7'),
      await admit('b@example.com'),
    ]
    expect(codes).toEqual(['done', 'rate_limited', 'done'])
  })

  it('counts against its network', async () => {
    await limit('mail_per_address', 1)
    const codes = [
      await admit('a@example.com'),
      await admit('b@example.com'),
      await admit('c@example.com', '198.51.100.7'),
    ]
    expect(codes).toEqual(['done', 'rate_limited', 'done'])
  })
})

describe('what a client sends for a message', () => {
  it.each(
    titled([
      [{ a: 'x'.repeat(4_000) }, true],
      [{ a: 'x'.repeat(4_001) }, false],
      [Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, 'x'.repeat(4_000)])), true],
      [Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, 'x'.repeat(3_999)])), false],
      [{ a: 'a\r\n\tb' }, true],
      [{ a: 'a\u0000' }, false],
      [['a'], false],
    ]),
  )('%s', (_title, given, isAccepted) => expect(v.safeParse(values, given).success).toBe(isAccepted))

  it('goes to one address or one number', () => {
    expect(requireRecipient(' Ada@Example.com', 'email')).toBe('ada@example.com')
    expect(requireRecipient('+4915112345678', 'sms')).toBe('+4915112345678')
    for (const [to, channel] of [
      ['a@example.com, b@example.com', 'email'],
      ['a@example.com>\r\nRCPT TO:<b@example.com', 'email'],
      ['+4915112345678', 'email'],
      ['4915112345678', 'sms'],
      ['+49151;ext=1', 'sms'],
      ['a@example.com', 'sms'],
    ] as const)
      expect(() => requireRecipient(to, channel)).toThrow('a mail goes to')
  })

  it.each(
    titled([
      [{ token: 'x'.repeat(43) }, true],
      [{ token: 'x'.repeat(42) }, false],
      [{ email: 'a@example.com', code: '123 456' }, true],
      [{ email: 'a@example.com', code: '123' }, false],
      [{ email: 'a@example.com', code: '12345678901' }, false],
      [{ email: 'a@example.com', code: '12345a' }, false],
      [{ email: 'a@example.com', code: `${' '.repeat(40)}123456` }, false],
      [{ code: '123456' }, false],
    ]),
  )('comes back as %s', (_title, given, isAccepted) => expect(v.safeParse(presented, given).success).toBe(isAccepted))
})

const message: Message = {
  id: 'msg_00000000000000000000000001',
  template: 'phone_otp',
  channel: 'email',
  to: 'ada@example.com',
  from: 'Shop <shop@example.com>',
  reply_to: null,
  subject: 'A code',
  text: '123456',
  html: '',
}
/** What becomes of a message. */
const fate = (work: Promise<unknown>) =>
  work.then(
    () => 'sent',
    (error: SendFailed) => `${error.isFinal ? 'dead' : 'queued'}: ${error.message}`,
  )

describe('a gateway', () => {
  it.each([
    [204, /^sent/],
    [307, /^queued/],
    [401, /^queued/],
    [404, /^queued/],
    [422, /^dead/],
    [429, /^queued/],
    [503, /^queued/],
  ])('that answers %i', async (status, expected) => {
    const elsewhere = await gateway((_request, response) => response.writeHead(200).end())
    const { url, requests } = await gateway((_request, response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    )
    expect(await fate(sendByHttp(message, url, 'a token'))).toMatch(expected)
    expect([requests[0]!.headers.authorization, elsewhere.requests]).toEqual(['Bearer a token', []])
  })
})

describe('a mail server', () => {
  const smtp = (port: number, security?: 'tls' | 'none') =>
    fate(
      sendBySmtp(
        message,
        {
          transport: 'smtp',
          from: message.from,
          host: '127.0.0.1',
          port,
          username: 'shop',
          ...(security && { security }),
        },
        'a password',
      ),
    )

  it('gets no password where it offers no TLS, or a certificate that is not trusted', async () => {
    const seen: unknown[] = []
    const auth = {
      onAuth(given: unknown, _session: unknown, done: (error: null, response: { user: string }) => void) {
        seen.push(given)
        done(null, { user: 'x' })
      },
    }
    const plain = await mailServer({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'], ...auth })
    const selfSigned = await mailServer(auth)
    const implicit = await mailServer({ secure: true, ...auth })
    const fates = [await smtp(plain.port), await smtp(selfSigned.port), await smtp(implicit.port, 'tls')]
    expect(fates.map((one) => one.slice(0, 7))).toEqual(['queued:', 'queued:', 'queued:'])
    expect([seen, plain.taken, selfSigned.taken, implicit.taken]).toEqual([[], [], [], []])
  })

  it('that refuses for now, or the login, may get the message later, and one that refuses for good may not', async () => {
    const login = await mailServer({
      authOptional: false,
      onAuth: (_given, _session, done) => done(refusal(535, 'wrong')),
    })
    const recipient = await mailServer({
      onAuth: (_given, _session, done) => done(null, { user: 'x' }),
      onRcptTo: (_address, _session, done) => done(refusal(550, 'no such mailbox')),
    })
    const full = await mailServer({
      onAuth: (_given, _session, done) => done(null, { user: 'x' }),
      onRcptTo: (_address, _session, done) => done(refusal(452, 'the mailbox is full')),
    })
    expect(await smtp(login.port, 'none')).toMatch(/^queued: 535/)
    expect(await smtp(full.port, 'none')).toMatch(/^queued: 452/)
    expect(await smtp(recipient.port, 'none')).toMatch(/^dead: 550/)
  })
})

describe('the sender of a stack', () => {
  const send = (document: object, change: Partial<Message> = {}) =>
    fate(request(() => senders.send({ ...message, ...change }, document)))
  const text = { channel: 'sms', to: '+4915112345678' } as const

  it('is needed: a message without one waits, and no code stands in the log', async () => {
    const { Log } = await import('../../src/sdk/ambient.ts')
    const logged = vi.spyOn(Log, 'info')
    expect(await send({})).toMatch(/^queued: no sender/)
    expect(await send({}, text)).toMatch(/^queued: no sender of text/)
    expect(logged).not.toHaveBeenCalled()
    logged.mockRestore()
  })

  it('gets its stored secret, and no message goes out without it', async () => {
    const { url, requests } = await gateway((_request, response) => response.writeHead(200).end())
    const mail = { from: 'shop@example.com', transport: 'http', url, credential_ref: 'gateway' }
    await phone({ driver: 'http', url, credential_ref: 'gateway' }, true)
    expect(await send({ mail })).toMatch(/"gateway" of the sender is not stored/)
    expect(await send({}, text)).toMatch(/"gateway" of the sender is not stored/)
    expect(requests).toEqual([])
    for (const name of ['email', 'phone'] as const) {
      const sealed = await request(() =>
        credentials.seal(name, 'gateway', { kind: 'sender_secret', secret: `of ${name}` }),
      )
      await sql(
        `insert into auth.provider_credentials (provider, name, kind, sealed, fingerprint) values ($1, 'gateway', 'sender_secret', $2, repeat('0', 16))`,
        [name, sealed],
      )
    }
    expect([await send({ mail }), await send({}, text)]).toEqual(['sent', 'sent'])
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer of email', 'Bearer of phone'])
    await sql('delete from auth.provider_credentials')
  })

  it('is the mailbox of a local stack, unless another one is set', async () => {
    const kind = (document: object, channel: 'email' | 'sms') =>
      request(() => senders.transportOf(document, channel, inRequest))
    const mail = { from: 'shop@example.com', transport: 'console' }
    expect([await kind({}, 'email'), await kind({}, 'sms'), await kind({ mail }, 'email')]).toEqual([
      undefined,
      undefined,
      'console',
    ])
    auth.env['STACK_MAILBOX_URL'] = 'http://127.0.0.1:9/'
    await phone({ driver: 'http', url: 'https://sms.example/' }, true)
    const kinds = [await kind({}, 'email'), await kind({}, 'sms'), await kind({ mail }, 'email')]
    delete auth.env['STACK_MAILBOX_URL']
    expect(kinds).toEqual(['mailbox', 'http', 'console'])
  })
})

const numbers = {
  channel: 'email',
  subject: 'Number {{number}}',
  body: '<p>{{number}}</p>',
  variables: [{ name: 'number', required: true, example: '7' }],
}
const told = async (answer: Response) => (await answer.json()) as ShownTemplate
const declare = async (key: string, change: object = {}) =>
  told(await request(() => templates.declare(key, { ...numbers, ...change }, http, 'req_1')))
/** Texts that fit `password_changed`, which requires no variable. */
const notice = { subject: 'Changed: {{email}}', body: '<p>Changed at {{occurred_at}}.</p>', body_text: 'Changed.' }
const put = (key: string, change: object = {}, ifMatch?: string, by: string | null = null) =>
  templates.replace(key, { ...notice, ...change }, ifMatch, by === null ? null : operator(by), http, 'req_1')
const read = async (key: string) => told(await request(() => templates.read(key)))

describe('a template', () => {
  it('9.2 is changed by one of thirty writers with the same etag', async () => {
    const { etag } = await read('password_changed')
    const codes = await atOnce('auth.templates', (n) => put('password_changed', { subject: `Number ${n}` }, etag))
    expect(counted(codes)).toEqual([
      ['done', 1],
      ['precondition_failed', 29],
    ])
    expect(await codeOf(() => templates.reset('password_changed', etag, null, http, 'req_1'))).toBe(
      'precondition_failed',
    )
  })

  it('has another etag after each change, of its texts and of its declaration', async () => {
    const tags = [(await read('password_changed')).etag]
    for (const subject of ['One', 'Two']) {
      await request(() => put('password_changed', { subject }))
      tags.push((await read('password_changed')).etag)
    }
    const declared = [(await declare('numbers')).etag]
    declared.push((await declare('numbers', { subject: 'New {{number}}' })).etag)
    expect([new Set(tags).size, new Set(declared).size]).toEqual([3, 2])
  })

  it('tells who has changed it last, and the audit trail has every change', async () => {
    await request(() => put('password_changed', { subject: 'One' }, undefined, 'usr_a'))
    await request(() => put('password_changed', { subject: 'Two' }, undefined, 'usr_b'))
    expect((await read('password_changed')).updated_by).toBe('usr_b')
    await request(() => templates.reset('password_changed', undefined, operator('usr_a'), http, 'req_1'))
    await declare('numbers')
    await request(() => templates.withdraw('numbers', http, 'req_1'))
    expect(await audited()).toEqual([
      ['template.updated', 'success', 'usr_a'],
      ['template.updated', 'success', 'usr_b'],
      ['template.reset', 'success', 'usr_a'],
      ['template.declared', 'success', null],
      ['template.withdrawn', 'success', null],
    ])
  })

  it('with a script, without its variables or of no known key is refused, and its preview too', async () => {
    const script = { body: '<script>x</script>' }
    expect(await codeOf(() => put('password_changed', script))).toBe('invalid_template')
    expect(await codeOf(() => put('confirm_email'))).toBe('invalid_template')
    for (const key of ['unknown', 'constructor', '__proto__'])
      expect(await codeOf(() => put(key))).toBe('template_not_found')
    const preview = (given: object) =>
      codeOf(() => templates.preview('password_changed', { variables: {}, ...given } as never))
    expect(await preview({ variables: { ip: '192.0.2.7' } })).toBe('done')
    expect([await preview(script), await preview({ variables: { other: 'x' } })]).toEqual([
      'invalid_template',
      'invalid_template',
    ])
  })

  it('is previewed with the new words alone', () => {
    const stored = { subject: 'Old', body: '<p>Old</p>', body_text: 'Old' }
    expect(textsWith({ variables: {}, body: '<p>New</p>' }, stored)).toEqual({
      ...stored,
      body: '<p>New</p>',
      body_text: null,
    })
    expect(textsWith({ variables: {} }, stored)).toEqual(stored)
  })

  it('of the project is declared under the key of its address', () => {
    expect(requireDeclaration('numbers', numbers).key).toBe('numbers')
    expect(() => requireDeclaration('numbers', { ...numbers, key: 'other' })).toThrow('as in the address')
    expect(() => requireDeclaration('reset_password', numbers)).toThrow('of the stack itself')
  })

  it('of the project goes with what was changed of it, also with another channel', async () => {
    await declare('numbers')
    await request(() => put('numbers', { subject: 'x', body: '{{number}}', body_text: null }))
    expect((await read('numbers')).customised).toBe(true)
    await request(() => templates.withdraw('numbers', http, 'req_1'))
    expect((await declare('numbers')).customised).toBe(false)
    await request(() => put('numbers', { subject: 'x', body: '{{number}}', body_text: null }))
    const sms = await declare('numbers', { channel: 'sms', subject: null, body: '{{number}}' })
    expect(sms.customised).toBe(false)
  })

  it('whose declaration has other variables shows what does not fit any more', async () => {
    await declare('numbers')
    await request(() => put('numbers', { subject: 'x', body: '{{number}}', body_text: null }))
    const variables = [{ name: 'count', required: true, example: '1' }]
    const { problems } = await declare('numbers', { subject: 'x', body: '{{count}}', variables })
    expect(problems).toHaveLength(2)
    const [known] = (await request(() => catalogue.list())).filter(({ key }) => key === 'password_changed')
    expect(shown(known!).problems).toEqual([])
  })

  it('of the project is one of 200, however many are declared at once', async () => {
    await sql(`insert into auth.project_templates (key, channel, subject, body, variables)
      select 'many_' || n, 'email', 'x', 'x', '[]' from generate_series(1, 199) n`)
    const codes = await atOnce('auth.project_templates', (n) => templates.declare(`new_${n}`, numbers, http, 'req_1'))
    expect(counted(codes)).toEqual([
      ['done', 1],
      ['too_many_templates', 29],
    ])
  })
})

describe('a test message', () => {
  const test = (to: string, key = 'reset_password') =>
    codeOf(() => templates.sendTest(key, { to }, operator('usr_a'), http, 'req_1'))

  it('opens nothing, and the audit trail has it, also where it failed', async () => {
    expect(await test('ada@example.com')).toBe('done')
    expect(sent[0]!.text).toContain('https://example.com/?token=example')
    expect(await sql('select from auth.one_time_tokens')).toEqual([])
    failure = new SendFailed('550 no', true)
    expect(await test('ada@example.com')).toBe('sender_failed')
    expect(await audited()).toEqual([
      ['template.test_sent', 'success', 'usr_a'],
      ['template.test_sent', 'failure', 'usr_a'],
    ])
  })

  it('is refused without a sender, and to no address', async () => {
    transport = undefined
    expect(await test('ada@example.com')).toBe('sender_not_configured')
    transport = 'mailbox'
    for (const to of ['nobody', 'a@example.com, b@example.com', '+4915112345678'])
      expect(await test(to)).toBe('invalid_request')
    expect(sent).toEqual([])
  })

  it.each(['test_message_per_recipient', 'test_messages'])('counts: %s', async (name) => {
    await limit(name, 1)
    const codes = [
      await test('ada@example.com'),
      await test(name === 'test_messages' ? 'b@example.com' : 'ada@example.com'),
    ]
    expect([codes, sent.length]).toEqual([['done', 'rate_limited'], 1])
  })
})

describe('9.11 a message of the project', () => {
  const send = (to: string, variables: Record<string, string> = { number: '7' }, template = 'numbers') =>
    codeOf(() => messages.send({ to, template, variables }))
  beforeEach(async () => void (await declare('numbers')))

  it('has the variables that its template declares, and none that the stack gives itself', async () => {
    expect([await send(email), await send('usr_unknown')]).toEqual(['done', 'user_not_found'])
    for (const variables of [{}, { number: '' }, { number: '7', other: 'x' }, { number: '7', site_name: 'Bank' }])
      expect(await send(email, variables as Record<string, string>)).toBe('invalid_message')
    expect(await send(email, {}, 'password_changed')).toBe('invalid_message')
    expect(await sql('select from auth.outbox')).toHaveLength(1)
  })

  it('is refused where the stack has no sender', async () => {
    transport = undefined
    expect(await send(email)).toBe('sender_not_configured')
  })

  it.each(['message_per_recipient', 'messages'])('counts: %s', async (name) => {
    await limit(name, 1)
    const codes = [await send(email), await send(name === 'messages' ? 'b@example.com' : email)]
    expect([codes, await sql('select from auth.outbox')]).toEqual([['done', 'rate_limited'], [{}]])
  })
})
