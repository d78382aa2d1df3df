import { Database, Injectable } from '@stack/backend'
import { Audit, type Entry } from '../audit/rows.ts'
import { open, seal } from '../shared/seal.ts'
import type { Sql } from '../shared/sql.ts'
import { type SealedColumn, sealedColumns } from './columns.ts'

/** Values of one batch: it is held in memory, and its transaction locks their rows. */
const batchSize = 500
/** Values that one call seals at most, so that it ends within seconds. */
const mostSealed = 5_000
/** Values of one table that do not open, after which a call leaves the table: the bound keys are the wrong ones. */
const mostUnreadable = 1_000
/** Largest number of values that do not open and are named in the answer. */
const mostNamed = 20

/** A value that no bound key opens. */
interface Unreadable {
  kind: string
  /** The key of its row, with a slash between the parts. */
  id: string
}

export interface Resealed {
  /** Values that this call has sealed anew. */
  sealed: number
  /** Values that are not sealed with the present key. Where it is not 0, the next call goes on. */
  remaining: number
  /** At most 20 of the values that no bound key opens. */
  unreadable: Unreadable[]
}

interface Row {
  key: string[]
  sealed: string
}

/**
 * Seals every value with the present sealing key. Nothing else changes, and both keys open values all the while. A batch is a transaction of
 * its own, so that an interrupted call has lost nothing and the next one goes on. A value that is written meanwhile is left alone.
 */
@Injectable()
export class Resealing {
  constructor(private readonly audit: Audit) {}

  /** @param keyId that sealed values begin with. @param by who asked for it, for the audit trail. */
  async run(keyId: string, by: Pick<Entry, 'actor' | 'client'>): Promise<Resealed> {
    const unreadable: Unreadable[] = []
    let sealed = 0
    for (const column of sealedColumns) {
      let after: string[] | undefined
      let failed = 0
      while (sealed < mostSealed && failed < mostUnreadable) {
        const rows = await Database.$apart((sql) => read(sql, column, keyId, after, mostSealed - sealed))
        after = rows.at(-1)?.key
        if (!after) break
        const anew = await sealedAnew(column, rows)
        failed += rows.length - anew.length
        const opened = new Set(anew.map(({ old }) => old))
        const closed = rows.filter((row) => !opened.has(row))
        unreadable.push(...closed.map(({ key }) => ({ kind: column.kind, id: key.join('/') })))
        if (anew.length > 0) sealed += await this.replace(column, keyId, anew, by)
      }
    }
    return { sealed, remaining: await this.count(keyId), unreadable: unreadable.slice(0, mostNamed) }
  }

  /** @returns the number of values that are not sealed with the present key. */
  private async count(keyId: string): Promise<number> {
    let remaining = 0
    for (const column of sealedColumns) {
      const [row] = await Database.$apart((sql) =>
        run<{ count: number }>(
          sql,
          `select count(*)::int as count from auth.${column.table} where ${isOther(column)}`,
          [keyId],
        ),
      )
      remaining += row!.count
    }
    return remaining
  }

  /** The batch and its entry in the audit trail are one transaction. @returns how many values were still those that were read. */
  private async replace(
    column: SealedColumn,
    keyId: string,
    anew: readonly { old: Row; sealed: string }[],
    by: Pick<Entry, 'actor' | 'client'>,
  ): Promise<number> {
    const { kind, table, key } = column
    const keys = key.map((_, index) => anew.map(({ old }) => old.key[index]))
    const names = key.map((_, index) => `key${index}`)
    return Database.$apart(async (sql) => {
      const replaced = await run(
        sql,
        `update auth.${table} set ${column.column} = ${column.isBytes ? `decode(anew.sealed, 'base64')` : 'anew.sealed'}
        from unnest(${[...names, 'old', 'sealed'].map(() => '?::text[]').join(', ')}) as anew (${[...names, 'old', 'sealed'].join(', ')})
        where ${key.map((name, index) => `${table}.${name} = anew.${names[index]}`).join(' and ')}
          and ${textOf(column)} = anew.old returning 1 as one`,
        [...keys, anew.map(({ old }) => old.sealed), anew.map(({ sealed }) => sealed)],
      )
      if (replaced.length > 0) {
        const details = { kind: 'sealing', sealed: replaced.length, of: kind }
        await this.audit.record({ event: 'key.rotated', ...by, target: { type: 'key', id: keyId }, details }, sql)
      }
      return replaced.length
    })
  }
}

/** Reads the next values that are not sealed with the present key. */
function read(
  sql: Sql,
  column: SealedColumn,
  keyId: string,
  after: string[] | undefined,
  most: number,
): Promise<Row[]> {
  const key = column.key.join(', ')
  const later = after ? `and (${key}) > (${after.map(() => '?').join(', ')})` : ''
  return run<Row>(
    sql,
    `select array[${key}] as key, ${textOf(column)} as sealed from auth.${column.table}
    where ${isOther(column)} ${later} order by ${key} limit ?`,
    [keyId, ...(after ?? []), Math.min(batchSize, most)],
  )
}

/** Opens and seals each value. Those that do not open are left out. */
async function sealedAnew(column: SealedColumn, rows: readonly Row[]): Promise<{ old: Row; sealed: string }[]> {
  const anew: { old: Row; sealed: string }[] = []
  for (const old of rows) {
    const place = column.placeOf(...old.key)
    const text = await open(old.sealed, place).catch(() => undefined)
    if (text !== undefined) anew.push({ old, sealed: await seal(text, place) })
  }
  return anew
}

/** The base64 text of a sealed value. `encode` breaks lines. */
function textOf({ table, column, isBytes }: SealedColumn): string {
  return isBytes ? `replace(encode(${table}.${column}, 'base64'), chr(10), '')` : `${table}.${column}`
}

/** Holds for a row that is sealed with another key than `?`. Rows without a value have none to seal. */
function isOther(column: SealedColumn): string {
  const other = `left(${textOf(column)}, 12) <> ?`
  return column.where ? `${other} and ${column.where}` : other
}

/** Runs a statement whose text is made of the list of columns. `?` stands for each value. */
function run<T>(sql: Sql, text: string, values: unknown[]): Promise<T[]> {
  return sql<T>(Object.assign(text.split('?'), { raw: [] }), ...values)
}
