/** One JSON line per event. Each line names its worker, because structured logs of several workers arrive in one stream. */
import type { LogLevel } from '../src/sdk/scope.ts'
import type { Env } from './env.ts'

export function writeLine(env: Env, level: LogLevel, message: string, fields: Record<string, unknown>): void {
  const own = { level, worker: env['STACK_WORKER'] ?? 'backend', message }
  const entry: Record<string, unknown> = { ...own }
  let isPlain = true
  for (const [name, value] of Object.entries(fields)) {
    if (name in own) continue // the project's fields must not replace the runtime's own
    entry[name] = value
    isPlain &&= typeof value === 'string' || typeof value === 'number'
  }
  let line: string
  try {
    // calling a replacer for every value costs more than the rest of the line
    line = isPlain ? JSON.stringify(entry) : JSON.stringify(entry, readable)
  } catch {
    line = JSON.stringify({ ...own, message: printed(message), request_id: fields['request_id'] })
  }
  try {
    console[level](line)
  } catch {
    // a log handler that throws must not fail the request
  }
}

/** Gives a form to the values that projects log although JSON has none for them. */
function readable(_key: string, value: unknown): unknown {
  if (value instanceof Error) return errorFields(value)
  return typeof value === 'bigint' ? String(value) : value
}

/** Fields of a Postgres error that the log keeps beside its message. None of them holds a bound value. */
const statementFields = ['code', 'hint', 'position', 'constraint', 'statement'] as const

/** An error as fields of a line. The bundle's source map leads its stack to the project's source. */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: printed(error) }
  const known = error as Error & Partial<Record<(typeof statementFields)[number], unknown>>
  const fields: Record<string, unknown> = { error: printed(error), stack: error.stack }
  for (const name of statementFields) if (typeof known[name] === 'string') fields[name] = known[name]
  if (error.cause !== undefined)
    fields['cause'] = error.cause instanceof Error ? errorFields(error.cause) : printed(error.cause)
  return fields
}

/** Converting a thrown value to text may throw as well. */
function printed(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return `${thrown.name}: ${thrown.message}`
    return (typeof thrown === 'object' && thrown !== null ? JSON.stringify(thrown) : undefined) ?? String(thrown)
  } catch {
    return 'a value that cannot be printed'
  }
}
