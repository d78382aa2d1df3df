/** The log of a served stack: one JSON object a line, whichever process and worker has written it. */
import { createStackMapper } from '../../local/log.ts'

export type LogFields = Record<string, unknown>

/** Names that workerd gives the levels of `console`, where they differ from the runtime's. */
const levels: Readonly<Record<string, string>> = { log: 'info', warning: 'warn', fatal: 'error' }

/** @param outs the folder of each worker's bundle and source maps. @returns a function that makes an entry of a line of workerd. */
export function createEntries(outs: Record<string, string>): (line: string) => LogFields {
  const mapped = createStackMapper(outs)
  return (line) => {
    const outer = objectIn(line)
    const { level, message } = outer ?? {}
    if (typeof level !== 'string' || typeof message !== 'string') {
      return { level: 'info', worker: 'workerd', message: line }
    }
    const inner = objectIn(message)
    if (!inner) return { level: levels[level] ?? level, worker: 'workerd', message }
    if (typeof inner['stack'] === 'string') inner['stack'] = mapped(String(inner['worker']), inner['stack'])
    return typeof inner['level'] === 'string' ? inner : { level: levels[level] ?? level, ...inner }
  }
}

function objectIn(text: string): LogFields | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
