/** `stack webhooks`: what it signs is what the provider's own verifier and the running stack accept (contract 7, 10). */
import * as fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebhookReceiver } from 'livekit-server-sdk'
import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sampleOf } from '../../cli/webhooks/sample.ts'
import { type SigningKey, seenIdOf, signDelivery } from '../../cli/webhooks/sign.ts'
import { findPort } from '../../local/ports.ts'
import { type Readers, readClaim } from '../../runtime/webhooks/claim.ts'
import { eventKey, readPayload } from '../../runtime/webhooks/payload.ts'
import { readHmac } from '../../runtime/webhooks/proofs/hmac.ts'
import { readPublicKey } from '../../runtime/webhooks/proofs/public-key.ts'
import { readSecret } from '../../runtime/webhooks/proofs/secret.ts'
import { readToken } from '../../runtime/webhooks/proofs/token.ts'
import { readUrl } from '../../runtime/webhooks/proofs/url.ts'
import { createStore } from '../../runtime/webhooks/store.ts'
import { presets, proofUnder, type Scheme, schemeOfBlock, standardWebhooks } from '../../src/wire/webhook-schemes.ts'
import { packageRoot, stack, start } from '../support/command.ts'
import { copyProject, temporaryFolder, temporaryProject } from '../support/project.ts'
import { privateKey } from '../support/schemes.ts'
import { nowSeconds, type SenderName, senderNames, senders } from '../support/senders.ts'
import { titled } from '../support/titles.ts'

const readers: Readers = {
  hmac: readHmac,
  url: readUrl,
  token: readToken,
  ed25519: readPublicKey,
  ecdsa: readPublicKey,
  secret: readSecret,
}
const schemeOf = (name: SenderName): Scheme =>
  name === 'standard' || name === 'svix' ? schemeOfBlock(standardWebhooks) : presets[name]
const isPublic = (name: SenderName) => ['ed25519', 'ecdsa'].includes(schemeOf(name).proof.by)
const keyOf = (name: SenderName): SigningKey =>
  isPublic(name) ? { privateKey: privateKey(senders[name].secret) } : { secret: senders[name].secret }

function hooks(variables: Record<string, string>): string {
  const root = path.join(temporaryFolder(), 'hooks')
  copyProject(path.join(packageRoot, 'test/edge/hooks'), root)
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  fs.writeFileSync(path.join(root, '.dev.vars'), lines.join('\n'))
  return root
}

describe('what is signed', () => {
  it.each(senderNames.filter((name) => senders[name].verify))('the own verifier of %s accepts', async (name) => {
    const scheme = schemeOf(name)
    const { event, secret } = senders[name]
    const verify = name === 'livekit' ? byLivekit : senders[name].verify
    const sample = sampleOf(scheme, event, undefined)
    const body = Buffer.from(sample.body)
    const url = `https://hooks.example/webhooks/${name}`
    const proof = signDelivery(scheme.proof, keyOf(name), { body, at: nowSeconds(), id: 'msg_1', url })
    const headers = renamed(name, { ...sample.headers, ...proof })
    expect(await verify!({ headers, body: new Uint8Array(body), url }, secret)).toBe(true)
    const other = new Uint8Array(Buffer.concat([body, Buffer.from(' ')]))
    expect(await verify!({ headers, body: other, url }, secret).catch(() => false)).toBe(false)
  })

  /** Its verifier knows one issuer. */
  async function byLivekit({ headers, body }: { headers: Record<string, string>; body: Uint8Array }, secret?: string) {
    const receiver = new WebhookReceiver('stack', secret!)
    const { event } = await receiver.receive(Buffer.from(body).toString(), headers['authorization'])
    return event === senders.livekit.event
  }

  /** Where any prefix will do, a verifier knows its own. */
  function renamed(name: SenderName, headers: Record<string, string>): Record<string, string> {
    if (name !== 'emailservice') return headers
    return Object.fromEntries(
      Object.entries(headers).map(([key, value]) => [key.replace('x-local-', 'x-emailservice-'), value]),
    )
  }

  it.each(
    titled<[SenderName, string]>([
      ...senderNames.map((name): [SenderName, string] => [name, senders[name].event]),
      ['codehost', 'issues.opened'],
      ['codehost', 'push'],
      ['slack', 'message'],
      ['slack', 'url_verification'],
      ['slack', '/deploy'],
      ['sms', 'onMessageAdded'],
      ['twilio', 'received'],
      ['twilio', 'delivered'],
      ['twilio', 'ringing'],
      ['twilio', 'onMessageAdded'],
      ['chatbot', 'PING'],
      ['chatbot', 'type_3'],
      ['discord', 'INTERACTION_CREATE'],
      ['discord', 'ENTITLEMENT_CREATE'],
    ]),
  )('the sample has that event key: %s', (_title, name, event) => {
    const scheme = schemeOf(name)
    const { body, headers } = sampleOf(scheme, event, { note: 'mine' })
    const { value: payload } = readPayload(scheme.payload, new Uint8Array(Buffer.from(body)))
    expect(eventKey(scheme.event, new Headers(headers), payload)).toBe(event)
    expect(body).toContain('mine')
  })
})

describe('7.2 what a person does in Slack arrives as Slack sends it', () => {
  const sample = (event: string, given?: unknown) => sampleOf(presets.slack, event, given)

  it.each([
    'block_actions',
    'block_suggestion',
    'dialog_submission',
    'interactive_message',
    'message_action',
    'shortcut',
    'view_closed',
    'view_submission',
  ])('%s: JSON in the field `payload` of a form', (event) => {
    const { body, contentType } = sample(event, { user: { name: 'a&b=ü' } })
    expect(contentType).toBe('application/x-www-form-urlencoded')
    const [[name, value], ...others] = [...new URLSearchParams(body)] as [[string, string]]
    expect([name, JSON.parse(value), others]).toEqual(['payload', { user: { name: 'a&b=ü' }, type: event }, []])
  })

  it('a slash command: its fields as a form', () => {
    const { body, contentType } = sample('/deploy', { text: 'to prod' })
    expect([contentType, Object.fromEntries(new URLSearchParams(body))]).toEqual([
      'application/x-www-form-urlencoded',
      { command: '/deploy', text: 'to prod' },
    ])
  })

  it('an event is JSON, in its envelope or without one', () => {
    expect([sample('message').contentType, JSON.parse(sample('message').body)]).toMatchObject([
      'application/json',
      { type: 'event_callback', event: { type: 'message' } },
    ])
    expect(JSON.parse(sample('app_rate_limited').body)).toEqual({ type: 'app_rate_limited' })
  })
})

describe('7.7 the id of a delivery that is sent', () => {
  const url = 'http://127.0.0.1:8787/webhooks/a'
  const byRuntime = async (scheme: Scheme, headers: Record<string, string>, body: Uint8Array<ArrayBuffer>) => {
    const claim = readClaim(readers, scheme.proof, { headers: new Headers(headers), urls: [url], now: nowSeconds() })
    if ('reason' in claim) throw new Error(claim.detail)
    const { value } = readPayload(claim.isJson ? ['json'] : scheme.payload, body)
    const key = eventKey(scheme.event, new Headers(headers), value) ?? ''
    return createStore().deliveryId(scheme, key, claim, value, body)
  }
  const samples = senderNames.map((name): [SenderName, string] => [name, senders[name].event])

  it.each<[SenderName, string, unknown?]>([
    ...samples,
    ['stripe', 'without an id', { id: '' }],
    ['stripe', 'an id with a blank', { id: 'a b' }],
    ['stripe', 'an id that is no text', { id: 7 }],
    ['slack', 'block_actions'],
    ['slack', 'block_actions', { event_id: 'Ev7' }],
    ['slack', '/deploy', { event_id: 'Ev8' }],
    ['slack', '/deploy', { event_id: ['Ev8', 'Ev9'] }],
  ])('%s: %s %j is the one that the runtime notes', async (name, event, given) => {
    const declared = schemeOf(name)
    const scheme = { ...declared, proof: proofUnder(declared.proof, senders[name].secret) }
    const sample = sampleOf(scheme, event, given)
    const body = new Uint8Array(Buffer.from(sample.body))
    const delivery = { body: Buffer.from(body), at: nowSeconds(), id: 'msg_1', url }
    const headers = { ...sample.headers, ...signDelivery(scheme.proof, keyOf(name), delivery) }
    const id = await seenIdOf(scheme, event, delivery)
    expect(id).toBe(await byRuntime(scheme, headers, body))
    expect(id).toMatch(/^(?:id:[!-~]{1,200}|id-sha256:[0-9a-f]{64}|sha256:[0-9a-f]{64})$/)
  })
})

describe('a running stack', () => {
  it('accepts what is sent for every preset and block; a pair is made where only the sender has the private half', async () => {
    const shared = senderNames.filter((name) => !isPublic(name))
    const root = hooks(Object.fromEntries(shared.map((name) => [`${name.toUpperCase()}_SECRET`, senders[name].secret])))
    const receivers = path.join(root, 'src/receivers.webhook.ts')
    fs.writeFileSync(
      receivers,
      fs
        .readFileSync(receivers, 'utf8')
        .replaceAll("_SECRET' } })", "_SECRET' }, record: true })")
        .replace(
          'class CodehostReceiver {',
          "class CodehostReceiver {\n  @On('issues.failing') fail({ issue }: { issue: { id: 1 } }) { return issue.id }",
        ),
    )
    const port = String(await findPort())
    const running = start(['start', '--project', root, '--port', port])
    await running.seen('Ctrl-C ends')
    const run = (...args: string[]) => stack(['webhooks', ...args, '--project', root])
    for (const name of senderNames) {
      const { code, stdout, stderr } = await run('send', name, senders[name].event)
      const expected = name === 'twilio' ? /<Response><\/Response>/ : /^\{\n {2}"ok": true,\n {2}"handled": true\n\}\n$/
      expect([name, code, stdout, stderr]).toEqual([
        name,
        0,
        expect.stringMatching(expected),
        expect.stringMatching(new RegExp(`200 POST http://127\\.0\\.0\\.1:${port}/webhooks/${name} in \\d+ ms, req_`)),
      ])
      const isPaired = stderr.includes('a pair for development was made')
      expect([name, isPaired]).toEqual([name, isPublic(name)])
    }
    expect((await run('send', 'chatbot', 'PING')).code).toBe(0) // with the pair that is there
    const asJson = await run('send', 'twilio', senders.twilio.event, '--json')
    expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([
      0,
      {
        status: 200,
        request_id: expect.stringMatching(/^req_/),
        duration_ms: expect.any(Number),
        body: expect.stringContaining('<Response></Response>'),
      },
    ])
    expect(running.output()).toContain('webhook payments: "payment.succeeded" handled by PaymentsReceiver.receive in')

    const unbound = await run('send', 'payments', 'payment.succeded', '--data', '{"amount":7}')
    expect([unbound.code, unbound.stdout]).toEqual([0, '{\n  "ok": true,\n  "handled": false\n}\n'])
    expect(unbound.stderr).toContain('no method of PaymentsReceiver is bound to "payment.succeded"')
    expect(running.output()).toContain('did you mean "payment.succeeded"?')

    const failing = await run('send', 'codehost', 'issues.failing')
    expect([failing.code, JSON.parse(failing.stdout).error]).toEqual([1, 'handler_failed'])
    expect(failing.stderr).toContain('what the handler reads is given by --data')

    const listed = await run('list', '--json')
    // gitlab has a second webhook for its plain token, and meta a second one without the entry of its token
    expect(JSON.parse(listed.stdout).data).toHaveLength(senderNames.length + 2)
    expect(JSON.parse(listed.stdout).data[0]).toMatchObject({
      name: 'payments',
      secret: { set: true, source: '.dev.vars' },
    })

    const { stdout } = await run('deliveries', 'payments', '--json')
    const deliveries = JSON.parse(stdout).data
    expect(deliveries).toMatchObject([{ outcome: 'unhandled' }, { outcome: 'handled', event: 'payment.succeeded' }])
    const table = await run('deliveries', '--limit', '2')
    expect([table.code, table.stdout]).toEqual([0, ''])
    expect(table.stderr).toMatch(/^deliveries\n {2}ID +RECEIVED +WEBHOOK +EVENT +OUTCOME +TOOK +REASON\n {2}dlv_/)

    const replayed = await run('replay', deliveries[1].id)
    expect([replayed.code, JSON.parse(replayed.stdout)]).toEqual([0, { ok: true, handled: true }])
    const again = await run('replay', deliveries[1].id, '--as-received')
    expect(again.code).toBe(0)
    const { database_url } = JSON.parse(fs.readFileSync(path.join(root, '.stack/local.json'), 'utf8'))
    const owner = new pg.Client(database_url)
    await owner.connect()
    await owner.query(`update webhooks.deliveries set received_at = now() - interval '301 seconds'`)
    const { rows } = await owner.query(
      `select distinct body, event from webhooks.deliveries where webhook = 'payments' and event = 'payment.succeeded'`,
    )
    await owner.end()
    expect(rows).toHaveLength(1) // byte for byte
    const stale = await run('replay', deliveries[1].id, '--as-received')
    expect([stale.code, JSON.parse(stale.stdout).error]).toEqual([4, 'unauthorized'])
    expect(stale.stderr).toContain('the signature was refused: the log of the stack names the reason beside req_')
    expect(running.output()).toContain('webhook payments refused a delivery: stale_timestamp: it was signed 30')
    expect((await run('replay', deliveries[1].id)).code).toBe(0)
    expect(await run('replay', 'dlv_nothing')).toMatchObject({ code: 2, stdout: '' })
    running.child.kill('SIGINT')
    expect((await running.finished).code).toBe(0)
  })
})

describe('1.6, 9.9 where a secret comes from', () => {
  const secretsOf = (root: string) => fs.readFileSync(path.join(root, '.dev.vars'), 'utf8')

  it('send signs with what the running stack reads, and replaces no entry that exists', async () => {
    const root = hooks({
      PAYMENTS_SECRET: senders.payments.secret,
      STRIPE_BEFORE: senders.stripe.secret,
      LIVEKIT_SECRET: '',
    })
    const receivers = path.join(root, 'src/receivers.webhook.ts')
    const source = fs.readFileSync(receivers, 'utf8')
    fs.writeFileSync(
      receivers,
      source.replace("env: 'STRIPE_SECRET'", "env: 'STRIPE_SECRET', previous: 'STRIPE_BEFORE'"),
    )
    const running = start(['start', '--project', root, '--port', String(await findPort())])
    await running.seen('Ctrl-C ends')
    const { base_url } = JSON.parse(fs.readFileSync(path.join(root, '.stack/local.json'), 'utf8'))
    const run = (args: string[], env: Record<string, string> = {}) => stack([...args, '--project', root], { env })
    const send = (name: SenderName, args: string[] = [], env = {}) =>
      run(['webhooks', 'send', name, senders[name].event, ...args], env)
    const before = secretsOf(root)

    // 9.9 a binding wins: the entry of the vault is another, and is not what verifies
    const stored = await run(['secret', 'set', 'PAYMENTS_SECRET=another'])
    expect(stored.stderr).toContain('the local stack reads PAYMENTS_SECRET from .dev.vars, which wins over the vault')
    for (const name of ['github', 'chatbot', 'sendgrid', 'livekit'] as const) {
      const set = await run(['secret', 'set', `${name.toUpperCase()}_SECRET=${senders[name].secret}`])
      expect([name, set.code]).toEqual([name, 0])
    }
    await run(['secret', 'set', 'STRIPE_SECRET=whsec_new'])
    await sleep(5_100) // 9.9 until then the worker may know the vault as it was
    expect((await send('payments')).code).toBe(0)

    // the values are in the vault alone: nothing is sent, and nothing is written over them
    for (const name of ['github', 'chatbot', 'sendgrid'] as const) {
      const { code, stdout, stderr } = await send(name)
      const variable = `${name.toUpperCase()}_SECRET`
      expect([name, code, stdout, stderr]).toEqual([
        name,
        2,
        '',
        expect.stringContaining(`error: ${variable} is in the vault of the local stack, and no value leaves the vault`),
      ])
      expect(stderr).toContain('--secret-env <VARIABLE>')
    }
    expect([secretsOf(root), fs.existsSync(path.join(root, '.stack/webhook-keys.json'))]).toEqual([before, false])
    const genuine = senders.chatbot.body('PING')
    const headers = await senders.chatbot.sign(genuine)
    const delivered = await fetch(`${base_url}/webhooks/chatbot`, {
      method: 'POST',
      body: Buffer.from(genuine),
      headers,
    })
    expect(delivered.status).toBe(200)

    // given by the person: a shared secret, or the private half of what the vault holds
    const pkcs8 = { format: 'pem', type: 'pkcs8' } as const
    const pem = privateKey(senders.chatbot.secret).export(pkcs8).toString()
    const der = privateKey(senders.sendgrid.secret).export({ format: 'der', type: 'pkcs8' }).toString('base64')
    const given: [SenderName, string][] = [
      ['github', senders.github.secret],
      ['chatbot', pem],
      ['sendgrid', der],
    ]
    for (const [name, value] of given) {
      const { code, stdout, stderr } = await send(name, ['--secret-env', 'MINE'], { MINE: value })
      expect([name, code, stderr]).toEqual([name, 0, expect.stringContaining(`200 POST ${base_url}/webhooks/${name}`)])
      expect(stdout + stderr).not.toContain(value)
    }
    const wrong = await send('github', ['--secret-env', 'MINE'], { MINE: 'wrong' })
    expect([wrong.code, JSON.parse(wrong.stdout).error]).toEqual([4, 'unauthorized'])
    for (const [name, env] of [
      ['chatbot', { MINE: der }],
      ['chatbot', { MINE: 'no key' }],
      ['sendgrid', { MINE: pem }],
      ['github', {}],
    ] as const) {
      const { code, stdout, stderr } = await send(name, ['--secret-env', 'MINE'], env)
      expect([name, code, stdout, stderr]).toEqual([name, 2, '', expect.stringContaining('error: --secret-env')])
    }
    const canary = await send('github', ['--secret-env', senders.github.secret])
    expect([canary.code, canary.stderr.includes(senders.github.secret)]).toEqual([2, false])

    // 7.5 a rotation: the new secret is in the vault, and the previous one still verifies
    const rotating = await send('stripe')
    expect([rotating.code, rotating.stderr]).toEqual([
      0,
      expect.stringContaining('signed with the previous secret, STRIPE_BEFORE of .dev.vars'),
    ])

    // an empty line hides the entry of the vault
    const hidden = await send('livekit')
    expect([hidden.code, hidden.stderr]).toEqual([
      2,
      expect.stringContaining("LIVEKIT_SECRET is empty in .dev.vars, which hides the vault's entry: remove that line"),
    ])
    const unset = await send('codehost')
    expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining('CODEHOST_SECRET is not set')])

    const listed = await run(['webhooks', 'list'])
    const lineOf = (name: string) => listed.stderr.split('\n').find((line) => line.includes(`/webhooks/${name} `))
    expect(lineOf('payments')).toContain('PAYMENTS_SECRET from .dev.vars ')
    expect(lineOf('github')).toContain('GITHUB_SECRET from the vault ')
    expect(lineOf('codehost')).toContain('CODEHOST_SECRET is NOT set: every delivery is refused ')
    expect(lineOf('livekit')).toContain('LIVEKIT_SECRET is NOT set: every delivery is refused ')
    expect(lineOf('stripe')).toContain('STRIPE_SECRET from the vault; before: STRIPE_BEFORE from .dev.vars ')
    const { data } = JSON.parse((await run(['webhooks', 'list', '--json'])).stdout)
    const secretIn = (name: string) => data.find((webhook: { name: string }) => webhook.name === name).secret
    expect([secretIn('payments'), secretIn('github'), secretIn('livekit'), secretIn('stripe')]).toEqual([
      { env: 'PAYMENTS_SECRET', set: true, source: '.dev.vars' },
      { env: 'GITHUB_SECRET', set: true, source: 'vault' },
      { env: 'LIVEKIT_SECRET', set: false, source: 'unset' },
      {
        env: 'STRIPE_SECRET',
        set: true,
        source: 'vault',
        previous: 'STRIPE_BEFORE',
        previous_source: '.dev.vars',
      },
    ])

    const none = await run(['webhooks', 'deliveries'])
    const own = await run(['webhooks', 'deliveries', 'payments'])
    const empty = await run(['webhooks', 'deliveries', '--json'])
    expect([none.stderr, own.stderr, JSON.parse(empty.stdout)]).toEqual([
      expect.stringContaining('no webhook of this project records its deliveries: add `record: true`'),
      expect.stringContaining('payments does not record its deliveries: add `record: true`'),
      { data: [] },
    ])

    // a pair is made only where nothing is set, and goes on being used
    const minted = await send('discord')
    expect([minted.code, minted.stderr]).toEqual([0, expect.stringContaining('a pair for development was made')])
    expect(secretsOf(root).startsWith(before)).toBe(true)
    const after = secretsOf(root)
    expect((await send('discord')).code).toBe(0)
    expect(secretsOf(root)).toBe(after)
    fs.rmSync(path.join(root, '.stack/webhook-keys.json'))
    const lost = await send('discord')
    expect([lost.code, lost.stderr]).toEqual([
      2,
      expect.stringContaining('DISCORD_SECRET in .dev.vars is a public key'),
    ])
  })
})

describe('7.7 replay of a delivery that was handled', () => {
  it('is answered as a copy; --force removes its id, and runs the handler again', async () => {
    const names = ['payments', 'sms', 'standard', 'slack', 'realtime'] as const
    const root = hooks(Object.fromEntries(names.map((name) => [`${name.toUpperCase()}_SECRET`, senders[name].secret])))
    const receivers = path.join(root, 'src/receivers.webhook.ts')
    const keeping = fs
      .readFileSync(receivers, 'utf8')
      .replaceAll("_SECRET' } })", "_SECRET' }, record: true, dedupe: true })")
      .replace("env: 'REALTIME_SECRET' }, record: true, dedupe: true", "env: 'REALTIME_SECRET' }, record: true")
    fs.writeFileSync(receivers, keeping)
    const running = start(['start', '--project', root, '--port', String(await findPort())])
    await running.seen('Ctrl-C ends')
    const run = (...args: string[]) => stack(['webhooks', ...args, '--project', root])
    const { database_url } = JSON.parse(fs.readFileSync(path.join(root, '.stack/local.json'), 'utf8'))
    const owner = new pg.Client(database_url)
    await owner.connect()
    onTestFinished(() => owner.end())
    const handled = async (webhook: string) =>
      (await owner.query('select 1 from received where webhook = $1', [webhook])).rowCount
    const seen = async (webhook: string) =>
      (await owner.query('select id, seen_at::text from webhooks.seen where webhook = $1', [webhook])).rows
    const recorded = async (webhook: string) =>
      vi.waitUntil(
        async () => {
          const { stdout } = await run('deliveries', webhook, '--outcome', 'handled', '--json')
          return JSON.parse(stdout).data.at(-1)?.id as string | undefined
        },
        { timeout: 20_000 },
      )

    // the id of a field, of the signed URL and form, of a signed header, of the signed bytes of a form
    for (const [name, event] of [
      ['payments', senders.payments.event],
      ['sms', senders.sms.event],
      ['standard', senders.standard.event],
      ['slack', 'block_actions'],
    ] as const) {
      expect([name, (await run('send', name, event)).code]).toEqual([name, 0])
      const id = await recorded(name)
      const [row] = await seen(name)
      // a hash covers the time too, and is the same only for the time that it came with
      const times = name === 'slack' ? ['--as-received'] : []
      const copy = await run('replay', id, ...times)
      expect([name, copy.code, await handled(name), copy.stderr]).toEqual([
        name,
        0,
        1,
        expect.stringContaining(`${row.id} was handled before: the stack answers so, and runs no handler. --force`),
      ])
      const again = await run('replay', id, '--force', ...times)
      expect([name, again.code, await handled(name), again.stderr]).toEqual([
        name,
        0,
        2,
        expect.stringContaining(`removed ${row.id} of ${name} from webhooks.seen: the handler runs again`),
      ])
      expect((await seen(name)).map(({ id }) => id)).toEqual([row.id])
    }
    const forms = await owner.query(`select body, headers from webhooks.deliveries where webhook = 'slack'`)
    expect(forms.rows[0].headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect(forms.rows[0].body.toString()).toBe('payload=%7B%22type%22%3A%22block_actions%22%7D')

    // a handler that fails this time: the id is back as it was, and a copy from the provider runs nothing
    const id = await recorded('payments')
    const [row] = await seen('payments')
    await owner.query('alter table received rename to elsewhere')
    const failed = await run('replay', id, '--force')
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining(`put ${row.id} back`)])
    expect(await seen('payments')).toEqual([row])
    await owner.query('alter table elsewhere rename to received')

    // nothing to remove: never handled, or no ids are kept
    await owner.query(`delete from webhooks.seen where webhook = 'payments'`)
    const unknown = await run('replay', id, '--force')
    expect([unknown.code, unknown.stderr]).toEqual([0, expect.stringContaining(`payments has not handled ${row.id}`)])
    expect((await run('send', 'realtime', senders.realtime.event)).code).toBe(0)
    const plain = await run('replay', await recorded('realtime'), '--force')
    expect([plain.code, plain.stderr]).toEqual([0, expect.stringContaining('realtime keeps no ids of deliveries')])
    expect(await handled('realtime')).toBe(2)

    // 7.8 without its body there is nothing to send
    await owner.query(`update webhooks.deliveries set body = null, outcome = 'refused' where id = $1`, [id])
    const bodiless = await run('replay', id, '--force')
    expect([bodiless.code, bodiless.stdout, bodiless.stderr]).toEqual([
      2,
      '',
      `error: the body of ${id} was not kept, for it was refused: there is nothing to send again\n`,
    ])

    // 7.3 what came under the prefix of Svix is signed under one set of names
    const standard = await recorded('standard')
    await owner.query(
      `update webhooks.deliveries set headers = replace(headers::text, 'webhook-', 'svix-')::jsonb where id = $1`,
      [standard],
    )
    const svix = await run('replay', standard)
    expect([svix.code, svix.stderr]).toEqual([0, expect.stringContaining('was handled before')])

    const none = await run('deliveries', 'sms', '--outcome', 'failed')
    expect([none.code, none.stdout, none.stderr]).toEqual([
      0,
      '',
      'no delivery with the outcome failed is recorded: `stack webhooks send sms onMessageAdded` sends one\n',
    ])
  })
})

describe('without what it needs', () => {
  it.each<[string[], number, string]>([
    [['send', 'payment', 'x'], 2, 'error: no webhook is named payment: did you mean payments?'],
    [['send', 'payments'], 2, "missing required argument 'event'"],
    [['send', 'payments', 'x', '--data', '{'], 2, 'error: --data is not valid JSON'],
    [['send', 'payments', 'x', '--json', '{}'], 2, 'a payload is given by --data'],
    [['send', 'slack', 'block_actions', '--data', '[]'], 2, 'error: --data must be an object: it becomes a form'],
    [['send', 'slack', '/deploy', '--data', '[]'], 2, 'error: --data must be an object: it becomes a form'],
    [['send', 'payments', 'x', '--data', '@no-such-file'], 2, 'error: no-such-file cannot be read'],
    [['send', 'payments', 'x'], 3, 'error: no stack of this project runs here: `stack start` runs one'],
    [['deliveries'], 3, 'error: no stack of this project runs here'],
    [['deliveries', '--limit', '0'], 2, 'a whole number from 1 to 500 is needed'],
    [['replay', 'dlv_1'], 3, 'error: no stack of this project runs here'],
    [['deliveries', '--outcome', 'lost'], 2, 'Allowed choices are handled, unhandled'],
    [['list', 'extra'], 2, 'Unexpected: "extra". Usage: stack webhooks list [options]'],
    [['send', 'payments', 'x', 'extra'], 2, 'Unexpected: "extra". Usage: stack webhooks send'],
    [['deliveries', 'payments', 'extra'], 2, 'Unexpected: "extra". Usage: stack webhooks deliveries'],
    [['replay', 'dlv_1', 'extra'], 2, 'Unexpected: "extra". Usage: stack webhooks replay'],
    [['lst'], 2, 'Did you mean list?'],
  ])('%j: exit %i', async (args, code, sentence) => {
    const root = hooks({})
    expect((await stack(['build', '--project', root])).code).toBe(0)
    const project = args[0] === 'lst' ? [] : ['--project', root]
    const result = await stack(['webhooks', ...args, ...project])
    expect([result.code, result.stdout, result.stderr]).toEqual([code, '', expect.stringContaining(sentence)])
  })

  it('list: before a build, and while no stack runs', async () => {
    const root = hooks({ STRIPE_SECRET: 'x' })
    const unbuilt = await stack(['webhooks', 'list', '--project', root])
    expect([unbuilt.code, unbuilt.stderr]).toEqual([1, 'error: the project is not built yet: run `stack build`\n'])
    await stack(['build', '--project', root])
    const { code, stdout, stderr } = await stack(['webhooks', 'list', '--project', root])
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/^webhooks\n {2}PATH +SCHEME +SECRET +OPTIONS +EVENTS\n/)
    expect(stderr).toMatch(/\/webhooks\/stripe +stripe +STRIPE_SECRET from \.dev\.vars +- +invoice\.paid\n/)
    // the vault of a stack that does not run cannot be read, so nothing is called unset
    expect(stderr).toMatch(/PAYMENTS_SECRET is not in \.dev\.vars /)
    expect(stderr).toContain('no stack of this project runs here: what its vault holds is not known')
    const json = await stack(['webhooks', 'list', '--json', '--project', root])
    expect(JSON.parse(json.stdout).data.slice(0, 2)).toMatchObject([
      { name: 'payments', secret: { env: 'PAYMENTS_SECRET', set: null, source: 'unknown' } },
      { name: 'stripe', secret: { env: 'STRIPE_SECRET', set: true, source: '.dev.vars' } },
    ])
  })

  it('10.3 a record whose process is gone is reported and ignored', async () => {
    const root = hooks({})
    await stack(['build', '--project', root])
    const record = { pid: 2 ** 22 + 1, base_url: 'http://127.0.0.1:1', service_role_key: 'key' } // above the largest id
    fs.writeFileSync(path.join(root, '.stack/local.json'), JSON.stringify(record))
    const { code, stdout, stderr } = await stack(['webhooks', 'deliveries', '--project', root])
    expect([code, stdout, stderr]).toEqual([
      3,
      '',
      `the record of process ${record.pid} is left over: that stack is gone, and the record is ignored\n` +
        'error: no stack of this project runs here: `stack start` runs one\n',
    ])
  })

  it('list: a project without webhooks', async () => {
    const root = temporaryProject({
      'stack/project.json': '{ "project": "none" }',
      'src/app.module.ts': `import { Module } from '@stack/backend'\n@Module({})\nexport class AppModule {}\n`,
    })
    await stack(['build', '--project', root])
    const { code, stderr } = await stack(['webhooks', 'list', '--project', root])
    expect([code, stderr]).toEqual([
      0,
      'no webhook is mounted: list a class with @Webhook in the `providers` of a module\n',
    ])
  })
})
