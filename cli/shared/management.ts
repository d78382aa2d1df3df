/** Calls of a stack's management routes. */
import { stripVTControlCharacters, styleText } from 'node:util'
import { Failure } from './failure.ts'
import { type Answer, request } from './request.ts'
import type { Target } from './target.ts'
import { version } from './version.ts'

/** One call, with the values of its parameters in the path. */
export interface Operation {
  method: string
  /** Below the stack's base URL. */
  path: string
}

export interface Call extends Operation {
  /** The text of a JSON document. */
  body?: string
  /** The entity tag of the state that the call changes, for the header `If-Match`. */
  ifMatch?: string | undefined
}

/** Prints the name of the target on stderr, as before every call. */
export function announce({ name, isLocal }: Target): void {
  const shown = styleText(isLocal ? 'green' : 'yellow', name, { stream: process.stderr })
  process.stderr.write(`${shown}\n`)
}

/**
 * Sends one call: a write that may have arrived is never repeated.
 *
 * @throws Failure for a refusal, an answer that is no JSON, or where the stack does not answer.
 */
export async function send(target: Target, { method, path, body, ifMatch }: Call): Promise<Answer> {
  const headers = {
    ...target.credential,
    accept: 'application/json',
    'user-agent': `stack/${version}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
  }
  let answer: Answer
  try {
    answer = await request(
      target.baseUrl,
      { method, path, headers, ...(body === undefined ? {} : { body }) },
      target.timeoutMs,
    )
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Failure('unreachable', `${target.baseUrl} does not answer: ${message || code}`)
  }
  const { status, text } = answer
  const json = parsed(text)
  if (status >= 300 || (text !== '' && json === undefined)) throw refusal(status, text, json)
  return answer
}

/**
 * Prints the name of the target, and sends the call.
 *
 * @returns the parsed body, or `undefined` for an empty one. @throws Failure as `send` does.
 */
export async function manage(target: Target, operation: Operation, body?: unknown): Promise<unknown> {
  announce(target)
  const call = body === undefined ? operation : { ...operation, body: JSON.stringify(body) }
  return parsed((await send(target, call)).text)
}

/** The refusal in the words of the stack's error envelope. Another body is printed whole. */
function refusal(status: number, text: string, json: unknown): Failure {
  const { error, error_description: description, request_id: id } = (json ?? {}) as Record<string, unknown>
  const isEnvelope = status >= 400 && typeof error === 'string' && typeof description === 'string'
  const sentence = isEnvelope ? `${error}: ${description}` : `the stack answered ${status}: ${text}`
  // The documented line comes first and alone for scripts. A person at a terminal can quote the request.
  const hint = process.stderr.isTTY && typeof id === 'string' ? `\nThe stack's log has more under ${id}` : ''
  const kind = status === 401 || status === 403 ? 'unauthorized' : status === 412 ? 'changed' : 'refused'
  return new Failure(kind, plain(sentence + hint), true)
}

/** The text without the characters that a terminal would act on. */
function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
