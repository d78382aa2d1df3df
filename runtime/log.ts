/** One JSON line per event, naming the worker: structured logs of several workers arrive in one stream. */
import type { LogLevel } from '../src/sdk/scope.ts'
import type { Env } from './call.ts'

export function writeLine(env: Env, level: LogLevel, message: string, fields: Record<string, unknown>): void {
  const own = { level, worker: env['STACK_WORKER'] ?? 'backend', message }
  try {
    console[level](JSON.stringify(Object.assign({ ...own }, fields, own))) // a field of the project's cannot pose as these
  } catch {
    // a sink that throws, or fields that cannot be written as JSON, must not harm the request
    console[level](JSON.stringify({ ...own, message: String(message) }))
  }
}

/** An error as fields of a line; the stack names the project's source through the bundle's source map. */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) }
  const { cause } = error
  return {
    error: `${error.name}: ${error.message}`,
    stack: error.stack,
    ...(cause === undefined
      ? {}
      : { cause: cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause) }),
  }
}
