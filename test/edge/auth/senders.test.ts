/** Senders on real servers, and the outbox: what is sent, what is tried again, and what is given up. */
import { afterEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/wire/ids.ts'
import { storeSenderSecret } from '../../support/credentials.ts'
import { gateway, mailServer, rawServer, refusal } from '../../support/mail-server.ts'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

const management = '/v1/management/auth'
const asService = () => ({ apikey: shop.stack.record.service_role_key })
const call = (method: string, path: string, json: unknown) =>
  shop.call(`${management}${path}`, { method, json, headers: asService() })
const put = async (document: object) => {
  const answer = await call('PUT', '/settings', document)
  expect([answer.status, answer.text]).toEqual([200, answer.text])
}
const unlimited = {
  rate_limits: {
    test_messages: { attempts: 10_000, seconds: 1 },
    test_message_per_recipient: { attempts: 10_000, seconds: 1 },
    message_per_recipient: { attempts: 10_000, seconds: 1 },
  },
}
const smtp = (port: number, others: object = {}, document: object = {}) =>
  put({
    ...unlimited,
    ...document,
    mail: {
      from: 'Läden & Co <shop@example.com>',
      transport: 'smtp',
      host: '127.0.0.1',
      port,
      security: 'none',
      ...others,
    },
  })
const http = (url: string, others: object = {}) =>
  put({ ...unlimited, mail: { from: 'shop@example.com', transport: 'http', url, ...others } })
const address = () => `${crypto.randomUUID()}@example.com`
const test = (to: string, key = 'password_changed') => call('POST', `/templates/${key}/send-test`, { to })
const variables = { order: '7', items: '1 × tea', total: '12.50 EUR' }
const send = async (to: string, values = variables): Promise<string> => {
  const { status, json, text } = await call('POST', '/messages', { to, template: 'receipt', variables: values })
  expect([status, text]).toEqual([202, text])
  return json.message_id
}
const deliver = () => shop.call('/cdn-cgi/stack/cron', { json: { name: 'Delivery.deliverDue' }, headers: asService() })

interface Row {
  status: string
  attempts: number
  last_error: string | null
  /** Seconds until the next attempt. */
  wait: number
}
const row = async (id: string): Promise<Row> => {
  const [found] = await shop.sql<Row>(
    `select status, attempts, last_error, extract(epoch from next_attempt_at - now())::int as wait from auth.outbox where id = $1`,
    [id],
  )
  return found!
}
/** The row once an attempt has ended. */
const attempted = async (id: string): Promise<Row> => {
  await expect
    .poll(
      async () => {
        const { status, last_error } = await row(id)
        return status !== 'queued' || last_error !== null
      },
      { timeout: 60_000 },
    )
    .toBe(true)
  return row(id)
}
/** Writes a message as a request would that ended before it was sent. */
const queued = async (to: string, { attempts = 0, count = 1 } = {}): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => newId('msg_'))
  await shop.sql(
    `insert into auth.outbox (id, template, recipient, variables, attempts)
      select id, 'receipt', $2, $3, $4 from unnest($1::text[]) id`,
    [ids, to, variables, attempts],
  )
  return ids
}

afterEach(() => put({}))

describe('smtp', () => {
  it('sends a mail with its headers, as text and as HTML', async () => {
    const server = await mailServer()
    await smtp(server.port, { reply_to: 'Help <help@example.com>' }, { site_name: 'Läden' })
    const to = address()
    const id = await send(to, { ...variables, order: 'Größe 7' })
    await expect.poll(() => server.taken.length).toBe(1)
    const [mail] = server.taken
    expect([mail!.from, mail!.to, mail!.isSecure, mail!.user]).toEqual(['shop@example.com', [to], false, undefined])
    expect(Object.fromEntries(mail!.headers)).toMatchObject({
      from: ['Läden & Co <shop@example.com>'],
      to: [to],
      'reply-to': ['Help <help@example.com>'],
      subject: ['Your receipt for order Größe 7'],
      'message-id': [`<${id}@example.com>`],
      'mime-version': ['1.0'],
      'content-type': [expect.stringMatching(/^multipart\/alternative; boundary=/)],
    })
    expect(mail!.headers.has('bcc')).toBe(false)
    expect(mail!.raw).toMatch(/content-type: text\/plain; charset=utf-8/i)
    expect(mail!.raw).toMatch(/content-type: text\/html; charset=utf-8/i)
    expect((await attempted(id)).status).toBe('sent')
  })

  it('proves its login with the stored credential', async () => {
    const seen: (string | null | undefined)[][] = []
    const server = await mailServer({
      authOptional: false,
      onAuth({ username, password }, _session, done) {
        seen.push([username, password])
        if (password === 'right € secret') done(null, { user: username ?? '' })
        else done(null, { user: undefined })
      },
    })
    await storeSenderSecret(shop, 'mail', 'right € secret')
    await storeSenderSecret(shop, 'wrong', 'another')
    await smtp(server.port, { username: 'shop', credential_ref: 'mail' })
    expect((await test(address())).json).toMatchObject({ status: 'sent', transport: 'smtp' })
    expect([seen, server.taken[0]!.user]).toEqual([[['shop', 'right € secret']], 'shop'])
    await smtp(server.port, { username: 'shop', credential_ref: 'wrong' })
    const wrong = await test(address())
    expect(wrong.json).toMatchObject({ error: 'sender_failed', status: 502 })
    expect(wrong.json.error_description).toMatch(/535/)
    // a credential may be replaced: the message waits
    expect((await attempted(await send(address()))).status).toBe('queued')
    await smtp(server.port, { username: 'shop', credential_ref: 'absent' })
    expect((await test(address())).json.error_description).toContain(
      'the credential "absent" of the sender is not stored',
    )
    expect(server.taken).toHaveLength(1)
    const shown = JSON.stringify([
      shop.log,
      await shop.sql('select * from auth.outbox'),
      await shop.sql('select * from auth.audit'),
    ])
    expect([shown.includes('right € secret'), shown.includes('another')]).toEqual([false, false])
  })

  it('sends nothing where the server offers no TLS, or a certificate that is not trusted', async () => {
    await storeSenderSecret(shop, 'tls', 'never in the clear')
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
    const login = { username: 'shop', credential_ref: 'tls' }
    for (const [server, security] of [
      [plain, 'starttls'],
      [plain, undefined],
      [plain, 'tls'],
      [selfSigned, 'starttls'],
      [selfSigned, undefined],
      [implicit, 'tls'],
    ] as const) {
      await smtp(server.port, { ...login, security })
      expect([security, (await test(address())).json]).toMatchObject([
        security,
        { error: 'sender_failed', status: 502 },
      ])
    }
    expect((await attempted(await send(address()))).status).toBe('queued')
    expect([seen, plain.taken, selfSigned.taken, implicit.taken]).toEqual([[], [], [], []])
  })

  it('tries again after a refusal that passes, and gives up after a final one', async () => {
    for (const [stage, responseCode, status] of [
      ['onMailFrom', 451, 'queued'],
      ['onRcptTo', 450, 'queued'],
      ['onData', 452, 'queued'],
      ['onMailFrom', 550, 'dead'],
      ['onRcptTo', 553, 'dead'],
      ['onData', 554, 'dead'],
    ] as const) {
      const server = await mailServer({
        [stage]: (first: NodeJS.ReadableStream | object, _session: object, done: (error: Error) => void) => {
          if ('resume' in first) first.resume()
          done(refusal(responseCode, `not now ${stage}`))
        },
      })
      await smtp(server.port)
      const found = await attempted(await send(address()))
      expect([stage, responseCode, found.status, found.attempts]).toEqual([stage, responseCode, status, 1])
      expect(found.last_error).toContain(`${responseCode} not now ${stage}`)
      expect((await test(address())).json.error_description).toContain(`${responseCode} not now ${stage}`)
    }
  })

  it('ends with a server that stalls, cuts or says too much, and tries again', async () => {
    const servers = [
      await rawServer(() => {}),
      await rawServer((socket) => socket.end()),
      await rawServer((socket) => socket.write('220 ready\r\n')),
      await rawServer((socket) => {
        socket.write('220 ready\r\n')
        socket.once('data', () => socket.destroy())
      }),
      await rawServer((socket) => socket.write('554 no\r\n')),
      await rawServer((socket) => {
        // a byte now and then keeps a socket from being idle
        const timer = setInterval(() => socket.write('2'), 1_000)
        socket.on('close', () => clearInterval(timer))
      }),
      await rawServer((socket) => {
        socket.write('220 ready\r\n')
        const more = () => {
          while (!socket.destroyed && socket.write(`250-${'x'.repeat(500)}\r\n`)) {}
        }
        socket.on('drain', more)
        socket.once('data', more)
      }),
    ]
    const answers = []
    for (const server of servers) {
      await smtp(server.port)
      answers.push(test(address()))
      await expect.poll(() => server.connections).toBe(1)
    }
    for (const { json } of await Promise.all(answers))
      expect(json).toMatchObject({ error: 'sender_failed', status: 502 })
    await smtp(servers[1]!.port)
    expect(await attempted(await send(address()))).toMatchObject({ status: 'queued', attempts: 1 })
    // no request waits for the sender: the stack answers as before
    expect((await shop.call('/catalogue')).status).toBe(200)
  })

  it('adds no header for a value', async () => {
    const server = await mailServer()
    await smtp(server.port)
    const values = {
      order: 'a\r\nBcc: evil@example.org\r\n\r\nbody',
      items: 'b\r\n.\r\nRCPT TO:<evil@example.org>\r\n',
      total: '\nX-Evil: 1',
    }
    const to = address()
    const id = await send(to, values)
    expect((await attempted(id)).status).toBe('sent')
    const [mail] = server.taken
    expect([server.taken.length, mail!.to]).toEqual([1, [to]])
    expect([...mail!.headers.keys()].sort()).toEqual([
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ])
    expect(mail!.headers.get('subject')).toEqual(['Your receipt for order a Bcc: evil@example.org body'])
  })

  it.each([
    'a\r\nBcc: evil@example.org <shop@example.com>',
    'shop@example.com\r\nBcc: evil@example.org',
    'a, b@example.com',
  ])('has no settings with the address %j', async (from) => {
    const mail = { from, transport: 'smtp', host: '127.0.0.1', port: 25, security: 'none' }
    expect((await call('PUT', '/settings', { mail })).json).toMatchObject({ error: 'invalid_settings', status: 400 })
    const replies = { ...mail, from: 'shop@example.com', reply_to: from }
    expect((await call('PUT', '/settings', { mail: replies })).json.error).toBe('invalid_settings')
    expect((await call('PUT', '/settings', { site_name: from.replace('a, b', 'a\n') })).json.error).toBe(
      'invalid_settings',
    )
  })

  it('has no settings without TLS for a host of the internet', async () => {
    const mail = (host: string) => ({ from: 'shop@example.com', transport: 'smtp', host, port: 25, security: 'none' })
    expect((await call('PUT', '/settings', { mail: mail('mail.example.com') })).json).toMatchObject({
      error: 'invalid_settings',
      fields: [{ path: 'mail', reason: expect.stringContaining('private network') }],
    })
    expect((await call('PUT', '/settings', { mail: mail('10.0.0.25') })).status).toBe(200)
  })
})

describe('http', () => {
  it('posts the message as JSON, with the credential', async () => {
    const { url, requests } = await gateway((_request, response) => response.writeHead(202).end('ok'))
    await storeSenderSecret(shop, 'gateway', 'gateway-token')
    await http(url, { credential_ref: 'gateway' })
    const to = address()
    const id = await send(to)
    expect((await attempted(id)).status).toBe('sent')
    expect(requests[0]!.headers).toMatchObject({
      authorization: 'Bearer gateway-token',
      'content-type': 'application/json',
    })
    expect(JSON.parse(requests[0]!.body)).toEqual({
      id,
      template: 'receipt',
      channel: 'email',
      to,
      from: 'shop@example.com',
      reply_to: null,
      subject: 'Your receipt for order 7',
      text: expect.stringContaining('12.50 EUR'),
      html: expect.stringContaining('<strong>12.50 EUR</strong>'),
    })
  })

  it.each([
    [200, 'sent'],
    [204, 'sent'],
    [302, 'queued'],
    [400, 'dead'],
    [422, 'dead'],
    [401, 'queued'],
    [429, 'queued'],
    [500, 'queued'],
    [503, 'queued'],
  ])('%i: %s', async (status, outcome) => {
    const other = await gateway((_request, response) => response.writeHead(200).end())
    const { url, requests } = await gateway((_request, response) =>
      response.writeHead(status, { location: other.url }).end(),
    )
    await http(url)
    const found = await attempted(await send(address()))
    expect([found.status, found.attempts, requests.length]).toEqual([outcome, 1, 1])
    expect(other.requests).toEqual([]) // a redirect is not followed: it would carry the message elsewhere
  })

  it('ends with a gateway that stalls, cuts or does not listen, and tries again', async () => {
    const urls = [
      (await gateway(() => {})).url,
      (await gateway((request) => request.socket.destroy())).url,
      'http://127.0.0.1:9/',
    ]
    const answers = []
    for (const url of urls) {
      await http(url)
      answers.push(attempted(await send(address())))
      // the settings are read when the message is sent
      await expect
        .poll(async () => (await shop.sql(`select from auth.outbox where status = 'queued' and attempts = 0`)).length)
        .toBe(0)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    for (const found of await Promise.all(answers)) expect(found).toMatchObject({ status: 'queued', attempts: 1 })
  })

  it('takes an answer of any length for its status alone', async () => {
    const { url } = await gateway((_request, response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) {}
      }
      response.on('drain', more)
      more()
    })
    await http(url)
    expect((await attempted(await send(address()))).status).toBe('sent')
  })
})

it('console writes the message to the log', async () => {
  await put({ ...unlimited, mail: { from: 'shop@example.com', transport: 'console' } })
  const to = address()
  expect((await test(to)).json).toMatchObject({ status: 'sent', transport: 'console' })
  const line = await shop.logged((one) => one['message'] === 'mail' && one['to'] === to)
  expect(line).toMatchObject({ subject: expect.stringContaining('was changed'), text: expect.any(String) })
  expect(await shop.mails(to)).toEqual([])
})

describe('the outbox', () => {
  it('waits longer after each attempt, and gives up after the eighth', async () => {
    const { url, requests } = await gateway((_request, response) => response.writeHead(503).end())
    await http(url)
    const to = address()
    const id = await send(to)
    const waits = []
    for (let attempt = 1; attempt <= 8; attempt++) {
      await expect.poll(() => requests.length).toBe(attempt)
      await expect.poll(async () => (await row(id)).last_error).toContain('503')
      const { wait, attempts, status } = await row(id)
      expect([attempts, status === 'queued']).toEqual([attempt, attempt < 8])
      waits.push(wait)
      await shop.sql(
        'update auth.outbox set next_attempt_at = now(), last_error = null where id = $1 and status = $2',
        [id, 'queued'],
      )
      if (attempt < 8) await deliver()
    }
    // seconds: the clock of the test goes on between the attempt and its reading
    const schedule = [60, 300, 900, 3_600, 14_400, 43_200, 86_400]
    for (const [index, seconds] of schedule.entries()) {
      expect(waits[index]).toBeLessThanOrEqual(seconds)
      expect(waits[index]).toBeGreaterThan(seconds - 60)
    }
    expect(await row(id)).toMatchObject({ status: 'dead', attempts: 8, last_error: 'the gateway answered 503' })
    await deliver()
    expect(requests).toHaveLength(8)
    expect(new Set(requests.map(({ body }) => JSON.parse(body).id))).toEqual(new Set([id]))
    const line = await shop.logged((one) => one['message'] === 'a message is given up' && one['message_id'] === id)
    expect(line).toMatchObject({ level: 'error', template: 'receipt', attempts: 8 })
    expect(JSON.stringify(line)).not.toContain(to)
  })

  it('sends a message once, however many claim it', async () => {
    const server = await mailServer()
    await smtp(server.port)
    const to = address()
    const ids = await queued(to, { count: 90 })
    const runs = await Promise.all(Array.from({ length: 30 }, deliver))
    expect(runs.map(({ json }) => json.outcome)).toEqual(Array(30).fill('finished'))
    await expect.poll(() => server.taken.length).toBe(90)
    const sent = server.taken.map(({ headers }) => headers.get('message-id')![0]!.slice(1, 31))
    expect(sent.sort()).toEqual([...ids].sort())
    expect(await shop.sql('select distinct status, attempts from auth.outbox where recipient = $1', [to])).toEqual([
      { status: 'sent', attempts: 1 },
    ])
  })

  it('sends what a worker left behind, before its attempt and during it', async () => {
    const server = await mailServer()
    await smtp(server.port)
    const [before, during] = [address(), address()]
    const [never] = await queued(before)
    const [begun] = await queued(during, { attempts: 1 })
    expect((await deliver()).json.outcome).toBe('finished')
    expect([await row(never!), await row(begun!)]).toMatchObject([
      { status: 'sent', attempts: 1 },
      { status: 'sent', attempts: 2 },
    ])
    expect(server.taken.map(({ to }) => to[0]).sort()).toEqual([before, during].sort())
  })

  it('leaves a message to the worker that has it, until its attempt is over', async () => {
    const server = await mailServer()
    await smtp(server.port)
    const to = address()
    const [id] = await queued(to, { attempts: 1 })
    await shop.sql(`update auth.outbox set next_attempt_at = now() + interval '60 s' where id = $1`, [id])
    await deliver()
    expect([server.taken, (await row(id!)).status]).toEqual([[], 'queued'])
  })

  it('has no message of a request that failed', async () => {
    const server = await mailServer()
    await smtp(server.port)
    await shop.sql(
      `create function refuse_message() returns trigger language plpgsql as 'begin raise exception ''no''; end'`,
    )
    await shop.sql(
      'create constraint trigger refuse_message after insert on auth.outbox deferrable initially deferred for each row execute function refuse_message()',
    )
    const to = address()
    const refused = await call('POST', '/messages', { to, template: 'receipt', variables })
    await shop.sql('drop trigger refuse_message on auth.outbox')
    expect(refused.status).toBe(500)
    await deliver()
    expect([server.taken, await shop.sql('select from auth.outbox where recipient = $1', [to])]).toEqual([[], []])
  })
})
