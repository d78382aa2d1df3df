/**
 * Verbs that are one call of the stack: words, positionals, flags, method and path (source, "Management routes"). Such a verb holds
 * no logic of its own, and knows nothing of the answer: its JSON is printed as it came, indented by two spaces.
 */
import { Option } from 'commander'
import { type ConfirmFlags, confirm } from './confirm.ts'
import { Failure } from './failure.ts'
import { indented } from './json-text.ts'
import { announce, type Operation, send } from './management.ts'
import { writeOut } from './output.ts'
import { readPayload } from './payload.ts'
import type { Answer } from './request.ts'
import { locateTarget, type Target, type TargetFlags } from './target.ts'
import { type Verb, yesFlag } from './verb.ts'

export interface HttpVerb extends Pick<Verb, 'name' | 'summary' | 'examples'> {
  operation: Operation
  /** One for each parameter of the path, in its order. */
  positionals?: Record<string, string>
  /** Flags whose values go into the query: the syntax of each, the name of its parameter, and its help line. */
  query?: readonly (readonly [syntax: string, parameter: string, description: string])[]
  /** The body, where it is always the same. */
  body?: unknown
  /** The flag that carries the body, and its help line. */
  payload?: readonly [flag: string, description: string]
  /** Flags beside the target's own. */
  options?: Option[]
  /** What the call ends or removes, given the positionals. It is asked before the call. */
  destroys?: (...positionals: string[]) => string
  /** Runs after a call that the stack has accepted. */
  after?: (target: Target) => Promise<void>
}

type HttpFlags = TargetFlags & ConfirmFlags & Record<string, unknown>

/** @param flags those of every verb that calls a stack. */
export function httpVerb(row: HttpVerb, flags: () => Option[]): Verb {
  const { name, summary, examples, positionals, query = [], payload, options = [], destroys } = row
  return {
    name,
    summary,
    examples,
    ...(positionals && { positionals }),
    options: [
      ...flags(),
      ...query.map(([syntax, , description]) => new Option(syntax, description)),
      ...(payload ? [new Option(`${payload[0]} <document>`, payload[1])] : []),
      ...options,
      ...(destroys ? [yesFlag()] : []),
    ],
    run: (given, ...words) => run(row, given as HttpFlags, words as string[]),
  }
}

async function run(row: HttpVerb, flags: HttpFlags, words: string[]): Promise<void> {
  const path = pathOf(row.operation, words) + queryOf(row, flags)
  const body = await bodyOf(row, flags)
  const target = await locateTarget(flags)
  if (row.destroys) await confirm(row.destroys(...words), target, flags)
  announce(target)
  const call = { method: row.operation.method, path, ...(body === undefined ? {} : { body }) }
  await printAnswer(await send(target, call))
  await row.after?.(target)
}

async function bodyOf({ body, payload }: HttpVerb, flags: HttpFlags): Promise<string | undefined> {
  if (body !== undefined) return JSON.stringify(body)
  if (!payload) return undefined
  const given = flags[payload[0].slice(2)]
  if (typeof given !== 'string')
    throw new Failure('usage', `the document is missing: ${payload[0]} <document>, @<file> or -`)
  return (await readPayload(payload[0], given)).text
}

/** Prints a JSON body as it came, indented by two spaces, and nothing for an empty one. */
export async function printAnswer({ text }: Answer): Promise<void> {
  if (text !== '') await writeOut(`${indented(text)}\n`)
}

/** The path of an operation with each positional as one percent-encoded segment. @throws Failure for `.` and `..`. */
export function pathOf({ path }: Operation, words: readonly string[]): string {
  let at = 0
  return path.replace(/:\w+/g, () => segmentOf(words[at++]!))
}

/** Each URL parser removes the segments `.` and `..`, also where they are encoded, so that another route would be called. */
export function segmentOf(word: string): string {
  if (word === '.' || word === '..') throw new Failure('usage', `"${word}" is no id: a path would lose it`)
  return encodeURIComponent(word)
}

/** The query by plain concatenation: values go out as they were typed (contract 9.6). */
function queryOf({ query = [] }: HttpVerb, flags: HttpFlags): string {
  const parts = query.flatMap(([syntax, parameter]) => {
    const option = new Option(syntax)
    const value = flags[option.attributeName()]
    if (typeof value !== 'string') return []
    if (parameter === 'limit' && !isPositive(option, value)) return []
    requireQueryValue(option, value)
    return [`${parameter}=${value}`]
  })
  return parts.length > 0 ? `?${parts.join('&')}` : ''
}

/** @throws Failure for text that is no whole number. */
function isPositive({ long }: Option, value: string): boolean {
  if (!/^-?\d{1,9}$/.test(value))
    throw new Failure('usage', `${long} takes a whole number, not ${JSON.stringify(value)}`)
  return Number(value) > 0
}

/** @throws Failure for a character that a request line cannot carry. Warns of one that will not arrive as it is. */
function requireQueryValue({ long }: Option, value: string): void {
  const [refused] = /[^!-~]|#/u.exec(value) ?? []
  if (refused !== undefined) {
    const shown = /[\p{L}\p{N}\p{P}\p{S}]/u.test(refused)
      ? `"${refused}"`
      : refused === ' '
        ? 'a space'
        : 'a control character'
    throw new Failure('usage', `the value of ${long} holds ${shown}, which a query sent as typed cannot carry`)
  }
  const [mangled] = /[&=+%]/.exec(value) ?? []
  if (mangled !== undefined)
    process.stderr.write(
      `the value of ${long} holds "${mangled}" and is sent as typed: the stack may read it differently\n`,
    )
}
