/** `stack cron run`: one scheduled method of the stack that runs here, at once. */
import type { CronResult } from '../../local/cron.ts'
import { localCronPath } from '../../src/wire/reserved-paths.ts'
import { Failure } from '../shared/failure.ts'
import { runningStack } from '../shared/local-stack.ts'
import { printJson } from '../shared/output.ts'
import { locateProject } from '../shared/project.ts'
import { nameOf, scheduledMethods, unknownName } from './scheduled.ts'

export interface RunFlags {
  project?: string
  json?: boolean
}

/**
 * Longest time of a run that this command waits for, in milliseconds. Node's `fetch` ends a request without an answer then, and
 * the run goes on.
 */
const waitMs = 300_000

export async function runCron(flags: RunFlags, name: string): Promise<void> {
  const { root } = locateProject(flags.project)
  const names = [...new Set(scheduledMethods(root).map(nameOf))]
  if (!names.includes(name)) throw unknownName(name, names)
  const { base_url, service_role_key } = await runningStack(root)
  const result = await ask(base_url, service_role_key, name)
  const about = [
    result.duration_ms === null ? '' : ` in ${result.duration_ms} ms`,
    result.request_id === null ? '' : ` (${result.request_id})`,
  ].join('')
  if (flags.json) await printJson(result)
  if (result.outcome === 'finished') {
    if (!flags.json) process.stderr.write(`${name} finished${about}\n`)
    return
  }
  throw new Failure('refused', `error: ${name} failed${about}: ${result.error}`)
}

async function ask(baseUrl: string, key: string, name: string): Promise<CronResult> {
  let response: Response
  let text: string
  try {
    response = await fetch(`${baseUrl}${localCronPath}`, {
      method: 'POST',
      headers: { apikey: key, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
      signal: AbortSignal.timeout(waitMs),
    })
    text = await response.text()
  } catch (error) {
    const { name: kind, message, cause } = error as Error
    const isLate = kind === 'TimeoutError' || (cause as { code?: string })?.code === 'UND_ERR_HEADERS_TIMEOUT'
    const why = isLate ? `nothing within ${waitMs / 1000} s, and the run goes on` : message
    throw new Failure('unreachable', `${baseUrl} does not answer: ${why}`)
  }
  if (response.ok) return JSON.parse(text) as CronResult
  const kind = response.status === 404 ? 'usage' : response.status === 401 ? 'unauthorized' : 'refused'
  throw new Failure(kind, described(response.status, text), kind === 'refused')
}

/** The sentence of a refusal. */
function described(status: number, text: string): string {
  try {
    const { error, error_description: description } = JSON.parse(text)
    return `${error}: ${description}`
  } catch {
    return `the stack answered ${status}: ${text}`
  }
}
