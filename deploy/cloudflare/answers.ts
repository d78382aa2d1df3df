/** Calls of the stack that was deployed: what is set there, what is declared, and what is gone. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Declarations, declareAll, NotDeclared } from '../../local/management.ts'
import { keys, settings as settingsOperations, vault } from '../../src/wire/operations.ts'
import type { Settings } from '../../src/wire/settings.ts'
import { PushFault } from './fault.ts'

/** Longest time of one answer, in milliseconds. The first request of a worker also opens its database connection. */
const answerMs = 15_000

/** Time between two attempts, in milliseconds. */
const pauseMs = 1_000

export type Credential = Record<string, string>

/** The stack that is deployed. */
export interface Address {
  /** Without a slash at its end. */
  baseUrl: string
  /** Longest wait for what was uploaded to be in force, in milliseconds. */
  waitMs: number
}

/** Waits until the auth worker answers at the address of the stack. @throws PushFault with what to do. */
export async function untilAnswering({ baseUrl, waitMs }: Address): Promise<void> {
  const last = await repeated(waitMs, async () => {
    const response = await fetch(`${baseUrl}${keys.keySet.path}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs),
    })
    const text = await response.text()
    return response.ok && text.includes('"keys"') ? undefined : `it answered ${response.status}: ${text.slice(0, 300)}`
  })
  if (last === undefined) return
  const { hostname } = new URL(baseUrl)
  const isUnknown = /ENOTFOUND|EAI_AGAIN/.test(last)
  const advice = isUnknown
    ? `${hostname} has no address yet: add a proxied DNS record for it (AAAA ${hostname} 100::)`
    : `check that ${hostname} has a proxied DNS record and that its database answers`
  throw new PushFault(
    'unreachable',
    `the auth worker is deployed, and ${baseUrl} does not answer: ${last}. ${advice}, then push again: it goes on from here`,
  )
}

/** Declares roles and templates. The credential may be newer than what some places of the platform know. @throws PushFault */
export async function declare(
  { baseUrl, waitMs }: Address,
  credential: Credential,
  declarations: Declarations,
): Promise<void> {
  let fault: PushFault | undefined
  const last = await repeated(waitMs, async () => {
    try {
      await declareAll(baseUrl, credential, declarations)
      return undefined
    } catch (error) {
      const status = error instanceof NotDeclared ? error.status : 503
      if (status !== 401 && status < 500) {
        fault = new PushFault(status === 403 ? 'unauthorized' : 'refused', (error as Error).message)
        return undefined
      }
      return reasonOf(error)
    }
  })
  if (fault) throw fault
  if (last !== undefined) {
    throw new PushFault(
      'unauthorized',
      `roles and templates are not declared: ${last}. The auth worker is deployed, and the next push goes on from here`,
    )
  }
}

/** The settings of the deployed stack before a push. */
export interface StackState {
  /** Names in the vault. */
  vault: string[]
  settings: Settings
}

/** @throws PushFault where the stack refuses the credential. */
export async function readStack(baseUrl: string, credential: Credential): Promise<StackState | undefined> {
  const read = async (path: string) => {
    const response = await fetch(`${baseUrl}${path}`, {
      headers: credential,
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs),
    })
    if (response.status === 401 || response.status === 403) {
      throw new PushFault(
        'unauthorized',
        `the stack refuses the credential of this environment: ${await response.text()}. Set STACK_SERVICE_ROLE_KEY to its service-role key, or push with --new-keys service_role`,
      )
    }
    return response.ok ? ((await response.json()) as unknown) : undefined
  }
  try {
    const names = (await read(vault.list.path)) as { data: { name: string }[] } | undefined
    const settings = (await read(settingsOperations.read.path)) as Settings | undefined
    return names && settings && { vault: names.data.map(({ name }) => name), settings }
  } catch (error) {
    if (error instanceof PushFault) throw error
    return undefined
  }
}

/** Waits until a webhook that was removed answers 404. @returns what it answers instead, or `undefined`. */
export function untilGone({ baseUrl, waitMs }: Address, webhook: string): Promise<string | undefined> {
  return repeated(waitMs, async () => {
    // a webhook that exists answers 405 to GET, and no handler runs
    const response = await fetch(`${baseUrl}/webhooks/${webhook}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs),
    })
    await response.arrayBuffer()
    return response.status === 404 ? undefined : `it answers ${response.status}`
  })
}

/** Repeats an attempt until it has no reason to fail, or the time is over. @returns the last reason. */
async function repeated(waitMs: number, attempt: () => Promise<string | undefined>): Promise<string | undefined> {
  const began = Date.now()
  for (;;) {
    const reason = await attempt().catch(reasonOf)
    if (reason === undefined || Date.now() - began + pauseMs > waitMs) return reason
    await sleep(pauseMs)
  }
}

/** The error of `fetch` says little, and its cause says why. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message || (cause as NodeJS.ErrnoException).code}` : message
}
