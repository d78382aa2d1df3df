/** The driver’s side of a connection: its password, its end, and statements behind an end (contract 2.4, 5.4), without a server. */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Batch } from '../../runtime/database/batch.ts'
import { open } from '../../runtime/database/driver.ts'

type Status = 'I' | 'T'

/** The driver's client, which a test answers in place of Postgres. */
class FakeClient {
  static made: FakeClient[] = []
  /** Answers the next attempts to connect, in their order. */
  static behaviours: ((client: FakeClient) => void)[] = []
  neonConfig: { pipelineConnect?: unknown } = {}
  /** Batches that were asked for, and plain texts. */
  asked: (Batch | string)[] = []
  connection = {
    once: (_event: string, listener: () => void) => {
      this.askCleartext = listener
    },
    prependListener: (_event: string, listener: (message: { status: Status }) => void) => {
      this.ready = listener
    },
  }
  askCleartext: () => void = () => {}
  ready: (message: { status: Status }) => void = () => {}

  constructor() {
    FakeClient.made.push(this)
  }
  on(): void {}
  once(): void {}
  query(batch: Batch | string): Promise<void> {
    this.asked.push(batch)
    return Promise.resolve()
  }
  connect(): Promise<void> {
    const behave = FakeClient.behaviours.shift()
    return Promise.resolve().then(() => {
      behave?.(this)
      this.answer('BEGIN', 'T')
    })
  }
  end(): Promise<void> {
    return Promise.resolve()
  }

  /** Sends the next batch, and answers each of its statements. @returns what it sent, or the error that kept it. */
  answer(tag: string, status: Status, state?: [string | null, string]): string[] | Error | undefined {
    const batch = this.asked.shift() as Batch
    const sent: string[] = []
    const fault = batch.submit({
      parse: ({ text }) => sent.push(text),
      bind() {},
      describe() {},
      execute() {},
      sync() {},
    })
    if (fault) {
      batch.handleError(fault)
      return fault
    }
    this.ready({ status })
    sent.forEach((_text, index) => {
      if (state && index === 1) batch.handleDataRow({ fields: state })
      batch.handleCommandComplete({ text: index === 0 ? tag : 'SELECT 1' })
    })
    batch.handleReadyForQuery()
    return sent
  }
}

vi.mock('cloudflare:sockets', () => ({ connect: () => ({}) }))
const held = vi.hoisted(() => ({ Client: undefined as unknown }))
vi.mock('@neondatabase/serverless', () => ({
  get Client() {
    return held.Client
  },
  types: { getTypeParser: () => (text: string) => text },
}))

held.Client = FakeClient
const first = [{ text: 'begin', values: [] }]
let count = 0
let url: string

beforeEach(() => {
  FakeClient.made = []
  FakeClient.behaviours = []
  url = `postgresql://a:b@127.0.0.1/${count++}`
})

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )
const refuse = (code: string) => () => {
  throw Object.assign(new Error('refused'), { code })
}
const modes = () => FakeClient.made.map(({ neonConfig }) => neonConfig.pipelineConnect)

describe('5.4 a password in clear text', () => {
  it('is sent unasked once the server has asked for it, and not after the server asks for another proof', async () => {
    FakeClient.behaviours = [(client) => client.askCleartext(), () => {}, refuse('28P01'), () => {}, () => {}]
    await open(url, first)
    await open(url, first)
    expect(modes()).toEqual([false, 'password'])
    await open(url, first)
    expect(modes().slice(2)).toEqual(['password', false])
    await open(url, first)
    expect(modes().slice(4)).toEqual([false])
  })

  it('is not tried again where it was not sent', async () => {
    FakeClient.behaviours = [refuse('28P01')]
    expect(await codeOf(open(url, first))).toBe('28P01')
    expect(modes()).toEqual([false])
  })
})

describe('2.4 a statement behind the end of the transaction', () => {
  const begun = async () => {
    const { link } = await open(url, first)
    return { link, client: FakeClient.made.at(-1)! }
  }

  it.each<[string, string, Status, [string | null, string]]>([
    ['a hidden COMMIT', 'DO', 'I', [null, '']],
    ['COMMIT AND CHAIN', 'COMMIT', 'T', [null, 't']],
    ['ROLLBACK AND CHAIN', 'ROLLBACK', 'T', [null, 'f']],
  ])('is not sent after %s, though it was asked for before the answer', async (_how, tag, status, state) => {
    const { link, client } = await begun()
    const ending = link.run({ text: 'end it', values: [] })
    const behind = link.run({ text: 'insert', values: [] })
    client.answer(tag, status, state)
    expect((await ending).hasEnded).toBe(true)
    expect(client.answer('INSERT 0 1', 'T', [null, 't'])).toMatchObject({ code: '25P01' })
    expect(await codeOf(behind)).toBe('25P01')
  })

  it('is sent while the transaction lasts, with the check that it does', async () => {
    const { link, client } = await begun()
    const running = link.run({ text: 'insert', values: [] })
    const [text, guard] = client.answer('INSERT 0 1', 'T', ['7', 't']) as string[]
    expect([text, guard]).toEqual(['insert', expect.stringContaining('request.jwt.signature')])
    expect(await running).toMatchObject({ transactionId: '7', hasEnded: false })
  })

  it('is sent again once the connection was emptied for another caller', async () => {
    const { link, client } = await begun()
    const ending = link.run({ text: 'commit', values: [] })
    client.answer('COMMIT', 'I', [null, ''])
    await ending
    await link.renew('rollback')
    const next = link.send(first)
    const emptied = client.asked.shift()
    expect(client.answer('BEGIN', 'T')).toEqual(['begin'])
    await next
    expect(emptied).toMatch(
      /^rollback; close all; set session authorization default; reset all; deallocate all; unlisten \*/,
    )
    expect(emptied).toMatch(
      /pg_advisory_unlock_all\(\); discard temp; discard sequences; select pg_catalog.setseed\(0?\.\d+/,
    )
  })
})
