/** Reads plans of Postgres: how many rows a statement has touched, and through which indexes. */
import { byIndex } from '../../src/auth/audit/statement.ts'

export interface Scanned {
  /** Rows that the scans have read, those included that a filter has removed. */
  rows: number
  /** Names of the indexes, in the order of the plan. */
  names: string[]
}

/**
 * Runs a statement as the lists of the management surface do, which read by an index.
 * @param table without its schema.
 * @returns what its scans of the table have read.
 */
export async function scannedBy(
  sql: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>,
  { text, values }: { text: string; values: unknown[] },
  table: string,
): Promise<Scanned> {
  await sql('begin')
  await sql(byIndex)
  const [row] = await sql(`explain (analyze, format json) ${text}`, values)
  await sql('rollback')
  return scannedIn((row!['QUERY PLAN'] as { Plan: Plan }[])[0]!.Plan, table)
}

type Plan = Record<string, unknown>

function scannedIn(plan: Plan, table: string): Scanned {
  const inner = ((plan['Plans'] as Plan[]) ?? []).map((one) => scannedIn(one, table))
  const isOwn = plan['Relation Name'] === table
  const rows = isOwn
    ? (Number(plan['Actual Rows']) + Number(plan['Rows Removed by Filter'] ?? 0)) * Number(plan['Actual Loops'])
    : 0
  return {
    rows: inner.reduce((sum, one) => sum + one.rows, rows),
    names: [
      ...(isOwn ? [String(plan['Index Name'] ?? 'the whole table')] : []),
      ...inner.flatMap(({ names }) => names),
    ],
  }
}
