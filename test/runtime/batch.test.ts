/** Several statements in one message: what is sent, and which answer belongs to which of them (contract 5.2). */
import { describe, expect, it } from 'vitest'
import { Batch, type Result, type Statement } from '../../runtime/database/batch.ts'

const statements: Statement[] = [
  { text: 'begin', values: [], reads: 'tag' },
  { text: 'select $1', values: ['a'] },
  { text: 'select 2', values: [], reads: 'rows' },
]

function sentBy(fault?: Error) {
  const sent: string[] = []
  const answered: (readonly Result[])[] = []
  const batch = new Batch(
    statements,
    () => fault,
    (results) => answered.push([...results]),
  )
  const refused = batch.submit({
    parse: ({ text }) => sent.push(`parse ${text}`),
    bind: ({ values, binary }) => sent.push(`bind ${JSON.stringify(values)} ${binary}`),
    describe: () => sent.push('describe'),
    execute: ({ rows }) => sent.push(`execute ${rows}`),
    sync: () => sent.push('sync'),
  })
  return { batch, sent, answered, refused }
}

describe('5.2 a batch', () => {
  it('is sent with one Sync, so that nothing runs after the first statement that fails', () => {
    expect(sentBy().sent).toEqual([
      ...['parse begin', 'bind [] false', 'execute 0'],
      ...['parse select $1', 'bind ["a"] false', 'describe', 'execute 0'],
      ...['parse select 2', 'bind [] false', 'execute 0'],
      'sync',
    ])
  })

  it('is not sent where its connection has a fault by then', () => {
    const fault = new Error('the transaction is over')
    const { sent, refused } = sentBy(fault)
    expect([sent, refused]).toEqual([[], fault])
  })

  it('gives each statement its own rows and names, before the next batch is sent', async () => {
    const { batch, answered } = sentBy()
    batch.handleDataRow({ fields: ['unread'] })
    batch.handleCommandComplete({ text: 'BEGIN' })
    batch.handleRowDescription({ fields: [{ name: 'value', dataTypeID: 25 }] })
    batch.handleDataRow({ fields: ['a'] })
    batch.handleDataRow({ fields: [null] })
    batch.handleCommandComplete({ text: 'SELECT 2' })
    batch.handleEmptyQuery()
    expect(answered).toEqual([])
    batch.handleReadyForQuery()
    const results = [
      { tag: 'BEGIN', names: [], types: [], rows: [] },
      { tag: 'SELECT 2', names: ['value'], types: [25], rows: [['a'], [null]] },
      { tag: '', names: [], types: [], rows: [] },
    ]
    expect([answered, await batch.done]).toEqual([[results], results])
  })

  it('fails with the error of the server, or says that a request has no stream to copy from', async () => {
    const plain = sentBy().batch
    plain.handleError({ code: '23505' })
    await expect(plain.done).rejects.toEqual({ code: '23505' })
    const copying = sentBy().batch
    copying.handleCopyInResponse()
    copying.handleError({ code: '57014' })
    await expect(copying.done).rejects.toMatchObject({ code: '0A000' })
  })
})
