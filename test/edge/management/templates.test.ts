/** Templates over the management surface, the project's own templates, and the messages that its backend sends (contract 9.11). */
import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { builtInTemplates } from '../../../src/wire/templates.ts'
import { useStack } from '../../support/stack.ts'
import { titled } from '../../support/titles.ts'

const shop = useStack('examples/orders')

const management = '/v1/management/auth'
const asService = () => ({ apikey: shop.stack.record.service_role_key })
const call = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
  shop.call(`${management}${path}`, {
    method,
    headers: { ...asService(), ...headers },
    ...(json === undefined ? {} : { json }),
  })
const get = (path: string) => call('GET', path)
const put = (key: string, json: unknown, headers?: Record<string, string>) =>
  call('PUT', `/templates/${key}`, json, headers)
const settings = (json: object) => call('PUT', '/settings', json)
const send = (json: unknown) => call('POST', '/messages', json)
const address = () => `${crypto.randomUUID()}@example.com`
const audited = (key: string) =>
  shop.sql<{ event_type: string; outcome: string; actor_type: string; details: Record<string, unknown> }>(
    'select event_type, outcome, actor_type, details from auth.audit where target_id = $1 order by id',
    [key],
  )

/** Texts that fit `password_changed`, which requires no variable. */
const notice = { subject: 'Changed: {{email}}', body: '<p>Changed at {{occurred_at}}.</p>', body_text: 'Changed.' }

afterEach(async () => {
  await settings({})
  await Promise.all(
    ['password_changed', 'confirm_email', 'receipt', 'phone_otp'].map((key) => call('DELETE', `/templates/${key}`)),
  )
})

describe('the list', () => {
  it('has every built-in template and those of the project', async () => {
    const { status, json } = await get('/templates')
    expect([status, json.has_more, json.next_cursor]).toEqual([200, false, null])
    expect(json.data.map(({ key }: { key: string }) => key)).toEqual([...builtInTemplates, 'receipt'])
    const found = (key: string) => json.data.find((one: { key: string }) => one.key === key)
    expect(found('confirm_email')).toEqual({
      key: 'confirm_email',
      channel: 'email',
      origin: 'built_in',
      locale: 'en',
      subject: 'Confirm your address for {{site_name}}',
      customised: false,
      variables: expect.arrayContaining([
        { name: 'action_url', required: true, example: 'https://example.com/?token=example' },
        { name: 'code', required: true, example: '000000' },
        { name: 'site_name', required: false, example: 'Example' },
      ]),
      etag: expect.stringMatching(/^"[\d.]+"$/),
      updated_at: null,
      updated_by: null,
    })
    expect(found('receipt')).toMatchObject({ origin: 'project', updated_at: expect.stringMatching(/Z$/) })
    expect(found('phone_otp')).toMatchObject({ channel: 'sms', subject: null })
  })
})

describe('a template', () => {
  it('is read with its default and its etag', async () => {
    const { status, json, headers } = await get('/templates/confirm_email')
    expect([status, headers.get('etag')]).toEqual([200, json.etag])
    expect(json.default).toEqual({ subject: json.subject, body: json.body, body_text: json.body_text })
    expect(json.problems).toEqual([])
    for (const key of ['unknown', 'Confirm_email', '__proto__', 'constructor', 'x'.repeat(200), "a'b"])
      expect((await get(`/templates/${encodeURIComponent(key)}`)).json).toMatchObject({
        error: 'template_not_found',
        status: 404,
      })
  })

  it('is changed, and its mail has the new words', async () => {
    const before = await get('/templates/password_changed')
    const { status, json, headers } = await put('password_changed', notice, { 'if-match': before.json.etag })
    expect([status, headers.get('etag')]).toEqual([200, json.etag])
    expect(json).toMatchObject({ ...notice, customised: true, updated_by: 'service', default: before.json.default })
    expect(json.etag).not.toBe(before.json.etag)
    const { email, password, token } = await shop.signUp()
    const next = { current_password: password, password: 'a new horse battery' }
    expect((await shop.call('/auth/password/change', { json: next, token })).status).toBe(204)
    const mail = await shop.mail(email, 'password_changed')
    expect([mail.subject, mail.text]).toEqual([`Changed: ${email}`, 'Changed.'])
    expect(mail.html).toMatch(/<p>Changed at \d{4}-\d\d-\d\d \d\d:\d\d UTC\.<\/p>/)
    expect(await audited('password_changed')).toContainEqual({
      event_type: 'template.updated',
      outcome: 'success',
      actor_type: 'service',
      details: { parts: ['subject', 'body', 'body_text'] },
    })
  })

  it('has a text made of its HTML where none is given', async () => {
    await put('password_changed', { subject: 'x', body: '<p>One</p><a href="{{site_url}}/a?b&amp;c">Two</a>' })
    const { json } = await call('POST', '/templates/password_changed/preview', {})
    expect(json.text).toBe(`One\n\nTwo: ${shop.url}/a?b&c`)
  })

  it('is restored to its default, once and again', async () => {
    await put('password_changed', notice)
    const restored = await call('DELETE', '/templates/password_changed')
    expect(restored).toMatchObject({ status: 200, json: { customised: false, updated_by: null } })
    expect(restored.json.body).toBe(restored.json.default.body)
    const again = await call('DELETE', '/templates/password_changed')
    expect([again.status, again.json]).toEqual([200, restored.json])
    const events = (await audited('password_changed')).map(({ event_type }) => event_type)
    expect(events.at(-1)).toBe('template.reset')
    expect((await call('DELETE', '/templates/unknown')).status).toBe(404)
  })

  it('that is put again changes nothing, and is not audited', async () => {
    const first = await put('password_changed', notice)
    const count = (await audited('password_changed')).length
    expect((await put('password_changed', notice)).json).toEqual(first.json)
    expect((await audited('password_changed')).length).toBe(count)
  })

  it('9.2 is changed by one of thirty writers with the same etag', async () => {
    const { etag } = (await get('/templates/password_changed')).json
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        put('password_changed', { ...notice, subject: `Number ${index}` }, { 'if-match': etag }),
      ),
    )
    const won = answers.filter(({ status }) => status === 200)
    const lost = answers.filter(({ json }) => json.error === 'precondition_failed')
    expect([won.length, lost.length]).toEqual([1, 29])
    expect([lost[0]!.status, lost[0]!.json.etag, lost[0]!.headers.get('etag')]).toEqual([
      412,
      won[0]!.json.etag,
      won[0]!.json.etag,
    ])
    expect((await call('DELETE', '/templates/password_changed', undefined, { 'if-match': etag })).status).toBe(412)
    expect((await put('password_changed', notice, { 'if-match': won[0]!.json.etag })).status).toBe(200)
    expect((await put('password_changed', { ...notice, subject: 'Any' }, { 'if-match': '*' })).status).toBe(200)
    // an etag of a state that is over names no later one
    await call('DELETE', '/templates/password_changed')
    await put('password_changed', notice)
    expect((await put('password_changed', notice, { 'if-match': won[0]!.json.etag })).status).toBe(412)
  })

  it.each(
    titled([
      [{ body: '<p>\n {{cod}}</p>' }, { path: 'body', line: 2, column: 2, reason: expect.stringContaining('"cod"') }],
      [
        { body: '{{#if x}}' },
        { path: 'body', line: 1, column: 1, reason: expect.stringContaining('begins no variable') },
      ],
      [
        { body: '<script>x</script>' },
        { path: 'body', line: 1, column: 1, reason: expect.stringContaining('<script>') },
      ],
      [
        { body: '<a href="javascript:x">' },
        { path: 'body', line: 1, column: 10, reason: expect.stringContaining('"href"') },
      ],
      [{ body: '<b onclick="x">' }, { path: 'body', line: 1, column: 4, reason: expect.stringContaining('"onclick"') }],
      [
        { subject: 'a\r\nBcc: b' },
        { path: 'subject', line: 1, column: 2, reason: expect.stringContaining('one line') },
      ],
      [{ subject: '' }, { path: 'subject', line: 1, column: 1, reason: expect.stringContaining('needs a subject') }],
      [{ body_text: 'a\u0001' }, { path: 'body_text', line: 1, column: 2, reason: expect.stringContaining('control') }],
      [{ body: 'x'.repeat(65_537) }, { path: 'body', line: 1, column: 1, reason: expect.stringContaining('65536') }],
    ]),
  )('refuses %s', async (_title, change, field) => {
    const { json } = await put('password_changed', { ...notice, ...change })
    expect(json).toMatchObject({ error: 'invalid_template', status: 422, fields: [field] })
    expect((await get('/templates/password_changed')).json.customised).toBe(false)
  })

  it('must keep the variables without which it is of no use', async () => {
    const link = '<a href="{{action_url}}">x</a>'
    const { json } = await put('confirm_email', { subject: 'x', body: link, body_text: '{{action_url}}' })
    expect(json.fields.map(({ path, reason }: { path: string; reason: string }) => [path, reason])).toEqual([
      ['body', 'the required variable {{code}} is missing'],
      ['body_text', 'the required variable {{code}} is missing'],
    ])
    expect((await put('confirm_email', { subject: 'x', body: `${link} {{code}}` })).status).toBe(200)
  })

  it('of a text message has a body alone', async () => {
    const body = 'Your code: {{code}}'
    expect((await put('phone_otp', { subject: 'x', body })).json).toMatchObject({
      status: 422,
      fields: [{ path: 'subject' }],
    })
    expect((await put('phone_otp', { body })).json).toMatchObject({ subject: null, body, customised: true })
  })

  it.each(
    titled([
      [{ ...notice, boddy: 'x' }, 'boddy'],
      [{ subject: 'x' }, 'body'],
      [{ ...notice, body: 7 }, 'body'],
      [{ ...notice, subject: ['x'] }, 'subject'],
    ]),
  )('takes no other body: %s', async (_title, body, path) => {
    expect((await put('password_changed', body)).json).toMatchObject({ error: 'invalid_request', fields: [{ path }] })
  })

  it('2.11 has a body of 256 KiB at most', async () => {
    const of = (length: number) => put('password_changed', { ...notice, body: 'x'.repeat(length) })
    expect((await of(262_144)).json).toMatchObject({ error: 'payload_too_large', status: 413 })
    expect((await of(262_144 - 200)).json).toMatchObject({ error: 'invalid_template', status: 422 })
    // three parts of 64 KiB pass
    const full = { ...notice, body: 'x'.repeat(65_536), body_text: 'x'.repeat(65_536) }
    expect((await put('password_changed', full)).status).toBe(200)
  })

  it('is changed by an operator under their own id', async () => {
    const { id, refreshToken } = await shop.signUp()
    await call('PUT', `/operators/${id}`)
    const { access_token: token } = (await shop.call('/auth/token/refresh', { json: { refresh_token: refreshToken } }))
      .json
    const as = (method: string, path: string, json: unknown) =>
      shop.call(`${management}${path}`, { method, json, token })
    expect((await as('PUT', '/templates/password_changed', notice)).json.updated_by).toBe(id)
    const to = address()
    expect((await as('POST', '/templates/password_changed/send-test', { to })).status).toBe(202)
    const last = (await audited('password_changed')).slice(-2)
    expect(last.map(({ event_type, actor_type }) => [event_type, actor_type])).toEqual([
      ['template.updated', 'operator'],
      ['template.test_sent', 'operator'],
    ])
    for (const [method, path] of [
      ['POST', '/messages'],
      ['PUT', '/templates/receipt/default'],
    ] as const)
      expect((await as(method, path, {})).json).toMatchObject({ error: 'forbidden', status: 403 })
  })
})

describe('a preview', () => {
  const preview = (key: string, json: object = {}) => call('POST', `/templates/${key}/preview`, json)

  it('fills every template in with examples', async () => {
    for (const key of [...builtInTemplates, 'receipt']) {
      const { status, json } = await preview(key)
      expect([key, status, Object.keys(json)]).toEqual([key, 200, ['subject', 'html', 'text']])
      expect(`${json.subject}${json.html}${json.text}`).not.toMatch(/\{\{/)
    }
  })

  it('takes values and texts that are not stored', async () => {
    const given = { subject: 'For {{order}}', body: '<p>{{order}}</p>{{items}}{{total}}', variables: { order: '<7>' } }
    const { json } = await preview('receipt', given)
    expect([json.subject, json.text]).toEqual(['For <7>', '<7>\n\n2 × tea-sencha25.00 EUR'])
    expect(json.html).toContain('<p>&lt;7&gt;</p>')
    expect((await get('/templates/receipt')).json.customised).toBe(false)
  })

  it('refuses what a change would refuse, and an unknown variable', async () => {
    expect((await preview('receipt', { body: '{{order}}' })).json).toMatchObject({
      error: 'invalid_template',
      status: 422,
    })
    const { json } = await preview('receipt', { variables: { ordr: '7' } })
    expect(json).toMatchObject({ error: 'invalid_template', error_description: expect.stringContaining('"ordr"') })
    expect((await preview('receipt', { variables: { order: 7 } })).json.error).toBe('invalid_request')
    expect((await preview('unknown')).status).toBe(404)
  })
})

describe('a test message', () => {
  const test = (key: string, json: object) => call('POST', `/templates/${key}/send-test`, json)

  it('is sent at once, with a link and a code that open nothing', async () => {
    const to = address()
    const { status, json } = await test('reset_password', { to, locale: 'en' })
    expect([status, json]).toEqual([
      202,
      { message_id: expect.stringMatching(/^msg_/), to, transport: 'mailbox', status: 'sent' },
    ])
    const [mail, ...others] = await shop.mails(to)
    expect([mail!.id, others]).toEqual([json.message_id, []])
    expect(mail!.text).toContain('https://example.com/?token=example')
    expect(await shop.sql('select from auth.one_time_tokens where target = $1', [to])).toEqual([])
    expect((await audited('reset_password')).at(-1)).toMatchObject({
      event_type: 'template.test_sent',
      outcome: 'success',
      details: { message_id: json.message_id, to, transport: 'mailbox' },
    })
  })

  it('of a text message goes to a number', async () => {
    expect((await test('phone_otp', { to: '+15550100001' })).status).toBe(202)
    expect((await shop.mails('+15550100001'))[0]!.text).toMatch(/^000000 is your code/)
    expect((await test('phone_otp', { to: address() })).json).toMatchObject({ status: 400, fields: [{ path: 'to' }] })
  })

  it.each(
    titled([
      [{ to: 'no address' }, 'to'],
      [{ to: 'ada@example.com>\r\nRCPT TO:<evil@example.org' }, 'to'],
      [{ to: '+15550100001' }, 'to'],
      [{ to: 'ada@example.com', locale: 'tlh' }, 'locale'],
      [{ to: 'ada@example.com', cc: 'x' }, 'cc'],
      [{}, 'to'],
    ]),
  )('refuses %s', async (_title, body, path) => {
    expect((await test('reset_password', body)).json).toMatchObject({
      error: 'invalid_request',
      status: 400,
      fields: [{ path }],
    })
  })

  it('tells what the sender said', async () => {
    await settings({ mail: { from: 'shop@example.com', transport: 'http', url: 'http://127.0.0.1:9/' } })
    const { json } = await test('reset_password', { to: address() })
    expect(json).toMatchObject({
      error: 'sender_failed',
      status: 502,
      error_description: expect.stringContaining('the gateway'),
    })
    expect((await audited('reset_password')).at(-1)).toMatchObject({
      event_type: 'template.test_sent',
      outcome: 'failure',
    })
  })

  it('is limited for an address, and for all', async () => {
    await settings({ rate_limits: { test_messages: { attempts: 1_000, seconds: 1 } } })
    const to = address()
    const answers = await Promise.all(Array.from({ length: 30 }, () => test('reset_password', { to })))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(25)
    expect(await shop.mails(to)).toHaveLength(5)
    await settings({ rate_limits: { test_messages: { attempts: 3, seconds: 3_600 } } })
    const others = await Promise.all(Array.from({ length: 30 }, () => test('reset_password', { to: address() })))
    expect(others.filter(({ status }) => status === 202).length).toBeLessThanOrEqual(3)
  })
})

describe('a template of the project', () => {
  const declared = {
    channel: 'email',
    subject: 'Number {{number}}',
    body: '<p>{{number}}</p>',
    variables: [{ name: 'number', required: true, example: '7' }],
  }
  const declare = (key: string, json: unknown = declared) => call('PUT', `/templates/${key}/default`, json)

  it('is declared, changed and declared again: what was changed stays', async () => {
    const first = await declare('numbers')
    expect(first.json).toMatchObject({ key: 'numbers', origin: 'project', customised: false, body: declared.body })
    expect((await declare('numbers')).json.etag).toBe(first.json.etag)
    await put('numbers', { subject: 'Mine', body: 'Mine {{number}}' })
    const second = await declare('numbers', { ...declared, body: '<b>{{number}}</b>' })
    expect(second.json).toMatchObject({
      customised: true,
      body: 'Mine {{number}}',
      default: { body: '<b>{{number}}</b>' },
    })
    expect(second.json.etag).not.toBe(first.json.etag)
    expect((await call('DELETE', '/templates/numbers')).json.body).toBe('<b>{{number}}</b>')
    expect((await audited('numbers')).map(({ event_type }) => event_type)).toEqual([
      'template.declared',
      'template.updated',
      'template.declared',
      'template.reset',
    ])
  })

  it('whose variables change shows what does not fit any more', async () => {
    await declare('renamed')
    await put('renamed', { subject: 'x', body: '{{number}}' })
    const variables = [{ name: 'count', required: true }]
    const { json } = await declare('renamed', { ...declared, subject: 'x', body: '{{count}}', variables })
    expect(json.problems).toEqual([
      expect.stringContaining('body, line 1, column 1: unknown variable "number"'),
      expect.stringContaining('{{count}} is missing'),
    ])
    const sms = await declare('renamed', { channel: 'sms', body: '{{number}}', variables: declared.variables })
    expect(sms.json).toMatchObject({ channel: 'sms', customised: false, subject: null, body: '{{number}}' })
  })

  it('is withdrawn, once and again', async () => {
    await declare('passing')
    await put('passing', { subject: 'x', body: '{{number}}' })
    expect((await call('DELETE', '/templates/passing/default')).status).toBe(204)
    expect((await call('DELETE', '/templates/passing/default')).status).toBe(204)
    expect((await get('/templates/passing')).status).toBe(404)
    expect((await declare('passing')).json.customised).toBe(false)
    expect((await call('DELETE', '/templates/reset_password/default')).json.error).toBe('invalid_template')
  })

  it.each(
    titled([
      ['reset_password', {}, 'key'],
      ['Numbers', {}, 'key'],
      ['numbers', { key: 'other' }, 'key'],
      ['numbers', { body: '{{nmber}}' }, 'body'],
      ['numbers', { variables: [{ name: 'email' }] }, 'variables.0.name'],
      ['numbers', { locale: 'en' }, 'locale'],
    ]),
  )('%s is refused', async (_title, key, change, path) => {
    const { json } = await declare(key, { ...declared, ...change })
    expect(json).toMatchObject({ error: 'invalid_template', status: 422, fields: [{ path }] })
  })

  it('is one of 200', async () => {
    await shop.sql(`insert into auth.project_templates (key, channel, subject, body, variables)
      select 'many_' || n, 'email', 'x', 'x', '[]' from generate_series(1, 200) n`)
    expect((await declare('one_more')).json).toMatchObject({ error: 'too_many_templates', status: 409 })
    expect((await declare('many_1')).status).toBe(200)
    await shop.sql(`delete from auth.project_templates where key like 'many_%'`)
  })
})

describe('9.11 a message', () => {
  const variables = { order: '7', items: '1 × tea', total: '12.50 EUR' }
  const receipt = (to: string, change: object = {}) => send({ to, template: 'receipt', variables, ...change })

  it('goes to an address, and to a user', async () => {
    const { id, email } = await shop.signUp()
    const other = address()
    for (const to of [id, other]) {
      const { status, json } = await receipt(to)
      expect([status, json]).toEqual([202, { message_id: expect.stringMatching(/^msg_/) }])
      const mail = await shop.mail(to === id ? email : other, 'receipt')
      expect([mail.id, mail.subject]).toEqual([json.message_id, 'Your receipt for order 7'])
      expect(mail.text).toContain('12.50 EUR')
    }
    const rows = await shop.sql(
      `select status, variables from auth.outbox where template = 'receipt' and recipient = $1`,
      [email],
    )
    expect(rows).toEqual([{ status: 'sent', variables: {} }])
  })

  it('shows a value as text', async () => {
    const to = address()
    await receipt(to, { variables: { ...variables, items: '<script>x</script>', order: 'a\r\nBcc: evil@example.org' } })
    const mail = await shop.mail(to)
    expect(mail.subject).toBe('Your receipt for order a Bcc: evil@example.org')
    expect(mail.html).toContain('&lt;script&gt;x&lt;/script&gt;')
    expect(mail.html).not.toContain('<script>')
  })

  it('of a text template goes to a number, and to the number of a user', async () => {
    const template = 'parcel'
    await call('PUT', `/templates/${template}/default`, {
      channel: 'sms',
      body: 'Parcel {{n}}',
      variables: [{ name: 'n' }],
    })
    const { id } = await shop.signUp()
    expect((await send({ to: id, template })).json).toMatchObject({
      error: 'invalid_message',
      fields: [{ path: 'to' }],
    })
    await shop.sql('update auth.users set phone = $2 where id = $1', [id, '+15550100002'])
    expect((await send({ to: id, template, variables: { n: '1' } })).status).toBe(202)
    expect((await shop.mail('+15550100002')).text).toBe('Parcel 1')
    expect((await send({ to: '+15550100003', template })).status).toBe(202)
    expect((await send({ to: address(), template })).json).toMatchObject({ status: 400, fields: [{ path: 'to' }] })
  })

  it('of a text template goes only to numbers that `allowed_prefixes` names, and so does its test message', async () => {
    const template = 'parcel'
    const declared = { channel: 'sms', body: 'Parcel {{n}}', variables: [{ name: 'n' }] }
    await call('PUT', `/templates/${template}/default`, declared)
    const allow = (allowed_prefixes: string[]) =>
      call('PUT', '/providers/phone/settings', { driver: 'console', allowed_prefixes })
    await allow(['+1', '+4989'])
    const { id } = await shop.signUp()
    await shop.sql('update auth.users set phone = $2 where id = $1', [id, '+4930123456'])
    const test = (to: string) => call('POST', `/templates/${template}/send-test`, { to })
    const refused = [
      await send({ to: '+4930123457', template }),
      await send({ to: id, template }),
      await test('+4930123458'),
    ]
    for (const { json } of refused) expect(json).toMatchObject({ error: 'phone_not_allowed', status: 422 })
    expect([(await send({ to: '+4989123456', template })).status, (await test('+4989123457')).status]).toEqual([
      202, 202,
    ])
    expect(await shop.mails('+4930123456')).toEqual([])
    await allow(['+'])
    expect((await send({ to: id, template })).status).toBe(202)
  })

  it.each(
    titled([
      [{ template: 'recipt' }, 422, 'invalid_message', 'template', '"recipt"'],
      [{ template: 'reset_password' }, 422, 'invalid_message', 'template', 'which it alone sends'],
      [{ template: 'password_changed' }, 422, 'invalid_message', 'template', 'which it alone sends'],
      [{ template: '__proto__' }, 422, 'invalid_message', 'template', '"__proto__"'],
      [{ variables: { ...variables, odrer: '1' } }, 422, 'invalid_message', 'variables.odrer', '"odrer"'],
      [{ variables: { ...variables, site_name: 'x' } }, 422, 'invalid_message', 'variables.site_name', 'itself'],
      [{ variables: { order: '1', items: 'x' } }, 422, 'invalid_message', 'variables.total', '"total" is missing'],
      [{ variables: { ...variables, total: '' } }, 422, 'invalid_message', 'variables.total', '"total" is missing'],
      [{ to: 'usr_unknown' }, 404, 'user_not_found', undefined, '"usr_unknown"'],
      [{ to: 'nobody' }, 400, 'invalid_request', 'to', ''],
      [{ to: 'a@example.com, b@example.com' }, 400, 'invalid_request', 'to', ''],
      [{ to: '+15550100001' }, 400, 'invalid_request', 'to', ''],
      [{ variables: { ...variables, total: 7 } }, 400, 'invalid_request', 'variables.total', ''],
      [{ variables: { ...variables, total: 'a\u0000' } }, 400, 'invalid_request', 'variables.total', ''],
      [{ variables: { ...variables, total: 'x'.repeat(4_001) } }, 400, 'invalid_request', 'variables.total', ''],
      [{ html: '<b>' }, 400, 'invalid_request', 'html', ''],
    ]),
  )('is refused: %s', async (_title, change, status, error, path, words) => {
    const { json } = await receipt('ada@example.com', change)
    expect(json).toMatchObject({ status, error, ...(path && { fields: [{ path }] }) })
    expect(json.error_description).toContain(words)
  })

  it('has values of 4,000 characters, and 16,000 together', async () => {
    const of = (length: number) =>
      receipt(address(), { variables: { order: '1', items: 'x'.repeat(length), total: 'y' } })
    expect((await of(4_000)).status).toBe(202)
    expect(
      (
        await receipt(address(), {
          variables: { a: 'x'.repeat(4_000), b: 'x'.repeat(4_000), c: 'x'.repeat(4_000), d: 'x'.repeat(4_000), e: 'x' },
        })
      ).json,
    ).toMatchObject({
      error: 'invalid_request',
    })
  })

  it('is limited for a recipient, also in parallel', async () => {
    const to = address()
    const answers = await Promise.all(Array.from({ length: 30 }, () => receipt(to)))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(20)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
    expect(Number(answers.find(({ status }) => status === 429)!.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('of a template that is withdrawn meanwhile is dropped', async () => {
    const to = address()
    await shop.sql(
      `insert into auth.outbox (id, template, recipient, variables) values ('msg_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'gone', $1, '{}')`,
      [to],
    )
    await shop.call('/cdn-cgi/stack/cron', { json: { name: 'Delivery.deliverDue' }, headers: asService() })
    expect(await shop.sql('select status from auth.outbox where recipient = $1', [to])).toEqual([{ status: 'dropped' }])
  })
})

describe('Notifications', () => {
  const pay = (order: string, secret = 'payments-secret') => {
    const body = JSON.stringify({ type: 'payment.succeeded', data: { order } })
    const time = Math.floor(Date.now() / 1000)
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
    const headers = { 'x-payments-signature': `t=${time},v1=${signature}`, 'content-type': 'application/json' }
    return shop.call('/webhooks/payments', { body, headers })
  }

  it('mail a receipt for a paid order, once', async () => {
    const { email, token } = await shop.signUp()
    const { id } = (await shop.call('/orders', { json: { sku: 'tea-sencha', quantity: 2 }, token })).json
    expect((await pay(id)).status).toBe(200)
    const mail = await shop.mail(email, 'receipt')
    expect(mail.subject).toBe(`Your receipt for order ${id}`)
    expect(mail.text).toContain('2 × tea-sencha')
    expect(mail.text).toContain('25.00 EUR')
    expect((await pay(id)).status).toBe(200)
    expect((await shop.mails(email)).filter(({ template }) => template === 'receipt')).toHaveLength(1)
  })

  it('are sent after the commit alone, and a failure of one is logged', async () => {
    const { id, email, token } = await shop.signUp()
    const order = (await shop.call('/orders', { json: { sku: 'tea-sencha', quantity: 1 }, token })).json.id
    await shop.sql('update auth.users set email = null where id = $1', [id])
    expect((await pay(order)).status).toBe(200)
    const line = await shop.logged(({ message }) => String(message).startsWith('work after the commit failed'))
    expect(JSON.stringify(line)).toContain('invalid_message')
    expect(await shop.sql('select status from orders where id = $1', [order])).toEqual([{ status: 'paid' }])
    expect((await shop.mails(email)).filter(({ template }) => template === 'receipt')).toEqual([])
  })
})
