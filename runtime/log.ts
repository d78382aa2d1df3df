/** One JSON line per event, naming the worker: structured logs of several workers arrive in one stream. */
import type { LogLevel } from '../src/sdk/scope.ts'
import type { Env } from './call.ts'

export function writeLine(env: Env, level: LogLevel, message: string, fields: Record<string, unknown>): void {
  const own = { level, worker: env['STACK_WORKER'] ?? 'backend', message }
  const entry: Record<string, unknown> = { ...own }
  let isPlain = true
  for (const [name, value] of Object.entries(fields)) {
    if (name in own) continue // a field of the project's cannot pose as these
    entry[name] = value
    isPlain &&= typeof value === 'string' || typeof value === 'number'
  }
  let line: string
  try {
    // asking for every value whether it is readable costs more than the rest of a line
    line = isPlain ? JSON.stringify(entry) : JSON.stringify(entry, readable)
  } catch {
    line = JSON.stringify({ ...own, message: printed(message), request_id: fields['request_id'] })
  }
  try {
    console[level](line)
  } catch {
    // a sink that throws must not harm the request
  }
}

/** What people log although JSON has no form for it. */
function readable(_key: string, value: unknown): unknown {
  if (value instanceof Error) return errorFields(value)
  return typeof value === 'bigint' ? String(value) : value
}

/** What Postgres says of a statement that failed, beside its message; nothing of it is a value that was bound. */
const statementFields = ['code', 'hint', 'position', 'constraint', 'statement'] as const

/** An error as fields of a line; the stack names the project's source through the bundle's source map. */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: printed(error) }
  const said = error as Error & Partial<Record<(typeof statementFields)[number], unknown>>
  const fields: Record<string, unknown> = { error: printed(error), stack: error.stack }
  for (const name of statementFields) if (typeof said[name] === 'string') fields[name] = said[name]
  if (error.cause !== undefined)
    fields['cause'] = error.cause instanceof Error ? errorFields(error.cause) : printed(error.cause)
  return fields
}

/** Whatever can be thrown can be printed: some of it throws when it is made text. */
function printed(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return `${thrown.name}: ${thrown.message}`
    return (typeof thrown === 'object' && thrown !== null ? JSON.stringify(thrown) : undefined) ?? String(thrown)
  } catch {
    return 'something that cannot be printed'
  }
}
