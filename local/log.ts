/** Prints the workers' JSON lines for a person. Stacks name lines of the project's source. */
import * as fs from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'
import { styleText } from 'node:util'

/** Fields that the message of a line about a delivery, or about scheduled work, contains already. */
const inMessage: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['webhook', new Set(['webhook', 'reason', 'event'])],
  ['cron', new Set(['class', 'method', 'outcome'])],
])

/** Statuses of deliveries about which the backend logs a line of its own. */
const said: ReadonlySet<number> = new Set([200, 204, 401, 500])

export interface LogPrinter {
  /** @returns `undefined` for a line that would only repeat another. */
  (line: string): string | undefined
  /** Reads the source maps anew, after other bundles are served. */
  reload(): void
}

/** @param outs the folder of each worker's bundle and source maps. */
export function createLogPrinter(outs: Record<string, string>, stream: NodeJS.WriteStream): LogPrinter {
  let mapped = createStackMapper(outs)
  const reload = () => {
    mapped = createStackMapper(outs)
  }
  return Object.assign(print, { reload })

  /** The stack of an error, and those of its causes. */
  function traceOf(worker: string, { error, stack, cause }: Record<string, unknown>): string | undefined {
    const own = typeof stack === 'string' ? mapped(worker, stack) : error === undefined ? undefined : String(error)
    if (cause === undefined) return own
    const from = typeof cause === 'object' && cause !== null ? traceOf(worker, { ...cause }) : String(cause)
    return [own, from && `caused by ${from}`].filter(Boolean).join('\n')
  }

  function print(line: string): string | undefined {
    let entry: Record<string, unknown>
    try {
      entry = JSON.parse(line)
    } catch {
      return harmless(line) // the project's own console.log
    }
    if (typeof entry !== 'object' || entry === null || typeof entry['level'] !== 'string') return harmless(line)
    const { level, worker, message, request_id, error, stack, cause, ...rest } = entry
    const plain = (value: unknown) => harmless(String(value))
    const time = styleText('dim', new Date().toISOString().slice(11, 23), { stream })
    const id = request_id ? ` ${styleText('dim', plain(request_id), { stream })}` : ''
    if (worker === 'front') {
      const isDelivery = String(rest['path']).startsWith('/webhooks/')
      if (isDelivery && said.has(Number(rest['status']))) return undefined
      return `${time} ${plain(`${rest['method']} ${rest['path']} ${rest['status']} ${rest['ms']}`)} ms${id}`
    }
    const colour = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim'
    const [about = ''] = String(message).split(' ', 1)
    // a project's own line may begin with the same word
    const known = about !== 'cron' || 'scheduled_at' in rest ? inMessage.get(about) : undefined
    const fields = Object.entries(rest)
      .filter(([name]) => !known?.has(name))
      .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    const from = worker === 'auth' ? 'auth: ' : ''
    const head = `${time} ${styleText(colour, plain(level), { stream })} ${from}${harmless(`${message}${fields.join('')}`)}${id}`
    const trace = traceOf(String(worker), { error, stack, cause })
    return trace ? `${head}\n${harmless(trace).replace(/^/gm, '    ')}` : head
  }
}

/** Escapes control characters: text from a client must not move the cursor or colour the terminal. */
function harmless(text: string): string {
  return text.replace(/[^\n\t\P{Cc}]/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/**
 * @returns a function that replaces each `worker.js:1:2345` in a stack by its place in the source. The maps are read now,
 * because a later build overwrites those of the bundle that runs.
 */
export function createStackMapper(outs: Record<string, string>): (worker: string, stack: string) => string {
  const texts = new Map(Object.entries(outs).map(([worker, out]) => [worker, mapsIn(out)]))
  const maps = new Map<string, SourceMap>()
  const mapOf = (worker: string, file: string) => {
    const text = texts.get(worker)?.get(`${file}.map`)
    const name = `${worker}/${file}`
    if (text !== undefined && !maps.has(name)) maps.set(name, new SourceMap(JSON.parse(text)))
    return maps.get(name)
  }
  return (worker, stack) =>
    stack.replace(
      /(?:file:\/\/)?[^\s()]*?([\w.-]+\.js):(\d+):(\d+)/g,
      (whole, file: string, line: string, column: string) => {
        const entry = mapOf(worker, file)?.findEntry(Number(line) - 1, Number(column) - 1)
        if (!entry || !('originalSource' in entry)) return whole
        const source = entry.originalSource.replace(/^(?:\.\.\/)+/, '')
        return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
      },
    )
}

function mapsIn(out: string): Map<string, string> {
  if (!fs.existsSync(out)) return new Map()
  const names = fs.readdirSync(out).filter((name) => name.endsWith('.map'))
  return new Map(names.map((name) => [name, fs.readFileSync(path.join(out, name), 'utf8')]))
}
