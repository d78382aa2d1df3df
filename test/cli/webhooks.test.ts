/** `stack webhooks`: what it signs is what the provider's own verifier and the running stack accept (contract 7, 10). */
import * as fs from 'node:fs'
import path from 'node:path'
import { WebhookReceiver } from 'livekit-server-sdk'
import { describe, expect, it } from 'vitest'
import { sampleOf } from '../../cli/webhooks/sample.ts'
import { type SigningKey, signDelivery } from '../../cli/webhooks/sign.ts'
import { findPort } from '../../local/ports.ts'
import { eventKey, parsePayload } from '../../runtime/webhooks/payload.ts'
import { presets, type Scheme, schemeOfBlock, standardWebhooks } from '../../src/wire/webhook-schemes.ts'
import { packageRoot, stack, start } from '../support/command.ts'
import { copyProject, temporaryFolder, temporaryProject } from '../support/project.ts'
import { privateKey } from '../support/schemes.ts'
import { nowSeconds, type SenderName, senderNames, senders } from '../support/senders.ts'
import { titled } from '../support/titles.ts'

const schemeOf = (name: SenderName): Scheme => (name === 'standard' ? schemeOfBlock(standardWebhooks) : presets[name])
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
    const payload = parsePayload(scheme.payload, new Uint8Array(Buffer.from(body)))
    expect(eventKey(scheme.event, new Headers(headers), payload)).toBe(event)
    expect(body).toContain('mine')
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
      const expected = name === 'twilio' ? /<Response><\/Response>/ : /^\{"ok":true,"handled":true\}\n$/
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
    expect(running.output()).toContain('webhook payments: "payment.succeeded" handled by PaymentsReceiver.receive in')

    const unbound = await run('send', 'payments', 'payment.succeded', '--json', '{"amount":7}')
    expect([unbound.code, unbound.stdout]).toEqual([0, '{"ok":true,"handled":false}\n'])
    expect(unbound.stderr).toContain('no method of PaymentsReceiver is bound to "payment.succeded"')
    expect(running.output()).toContain('did you mean "payment.succeeded"?')

    const failing = await run('send', 'codehost', 'issues.failing')
    expect([failing.code, JSON.parse(failing.stdout).error]).toEqual([1, 'handler_failed'])
    expect(failing.stderr).toContain('what the handler reads is given by --json')

    const listed = await run('list', '--json')
    expect(JSON.parse(listed.stdout).data).toHaveLength(senderNames.length)
    expect(JSON.parse(listed.stdout).data[0]).toMatchObject({ name: 'payments', secret: { set: true } })

    const { stdout } = await run('deliveries', 'payments', '--json')
    const deliveries = JSON.parse(stdout).data
    expect(deliveries).toMatchObject([{ outcome: 'unhandled' }, { outcome: 'handled', event: 'payment.succeeded' }])
    const table = await run('deliveries', '--limit', '2')
    expect([table.code, table.stdout]).toEqual([0, ''])
    expect(table.stderr).toMatch(/^deliveries\n {2}dlv_/)

    const replayed = await run('replay', deliveries[1].id)
    expect([replayed.code, replayed.stdout]).toEqual([0, '{"ok":true,"handled":true}\n'])
    const again = await run('replay', deliveries[1].id, '--as-received')
    expect(again.code).toBe(0)
    const { database_url } = JSON.parse(fs.readFileSync(path.join(root, '.stack/local.json'), 'utf8'))
    const { default: pg } = await import('pg')
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
    expect(running.output()).toContain('webhook payments refused a delivery: stale_timestamp: signed 30')
    expect((await run('replay', deliveries[1].id)).code).toBe(0)
    expect(await run('replay', 'dlv_nothing')).toMatchObject({ code: 2, stdout: '' })
    running.child.kill('SIGINT')
    expect((await running.finished).code).toBe(0)
  })
})

describe('without what it needs', () => {
  it.each<[string[], number, string]>([
    [['send', 'payment', 'x'], 2, 'error: no webhook is named payment: did you mean payments?'],
    [['send', 'payments'], 2, "missing required argument 'event'"],
    [['send', 'payments', 'x', '--json', '{'], 2, 'error: --json is not valid JSON'],
    [['send', 'payments', 'x', '--json', '@no-such-file'], 2, 'error: no-such-file cannot be read'],
    [['send', 'payments', 'x'], 3, 'error: no stack of this project runs here: `stack start` runs one'],
    [['deliveries'], 3, 'error: no stack of this project runs here'],
    [['deliveries', '--limit', '0'], 2, 'a whole number from 1 to 500 is needed'],
    [['replay', 'dlv_1'], 3, 'error: no stack of this project runs here'],
    [['lst'], 2, 'Did you mean list?'],
  ])('%j: exit %i', async (args, code, sentence) => {
    const root = hooks({})
    expect((await stack(['build', '--project', root])).code).toBe(0)
    const project = args[0] === 'lst' ? [] : ['--project', root]
    const result = await stack(['webhooks', ...args, ...project])
    expect([result.code, result.stdout, result.stderr]).toEqual([code, '', expect.stringContaining(sentence)])
  })

  it('list: before a build, and which secrets are not set', async () => {
    const root = hooks({ STRIPE_SECRET: 'x' })
    const unbuilt = await stack(['webhooks', 'list', '--project', root])
    expect([unbuilt.code, unbuilt.stderr]).toEqual([1, 'error: the project is not built yet: run `stack build`\n'])
    await stack(['build', '--project', root])
    const { code, stdout, stderr } = await stack(['webhooks', 'list', '--project', root])
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toContain('/webhooks/stripe')
    expect(stderr).toContain('STRIPE_SECRET is set ')
    expect(stderr).toContain('PAYMENTS_SECRET is NOT set: every delivery is refused')
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
