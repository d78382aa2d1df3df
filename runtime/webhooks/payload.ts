/** Parses verified bodies and finds their event keys. The scheme decides how, not the content type (contract 7.1). */
import { batchKey, type EventSource, type Scheme } from '../../src/wire/webhook-schemes.ts'
import { parseJson } from '../bytes.ts'
import { parseForm } from './form.ts'
import { utf8 } from './signed.ts'

const readers: Record<Scheme['payload'][number], (body: Uint8Array<ArrayBuffer>) => { value: unknown } | undefined> = {
  json: parseJson,
  form: (body) => ({ value: parseForm(body) }),
  field(body) {
    const text = textField(parseForm(body), 'payload')
    return text === undefined ? undefined : parseJson(utf8(text))
  },
}

export interface Payload {
  value: unknown
  /** How the body was parsed. Absent where no parser accepts it: then the value is the bytes. */
  kind?: Scheme['payload'][number]
}

export function readPayload(kinds: Scheme['payload'], body: Uint8Array<ArrayBuffer>): Payload {
  for (const kind of kinds) {
    const parsed = readers[kind](body)
    if (parsed) return { value: parsed.value, kind }
  }
  return { value: body }
}

/** @returns whether the event key stands in the body. A body that cannot be parsed has no key then. */
export function isKeyInBody({ from }: EventSource): boolean {
  return from !== 'header' && from !== 'constant'
}

/** @returns `undefined` where the delivery names no event. */
export function eventKey(source: EventSource, headers: Headers, payload: unknown): string | undefined {
  switch (source.from) {
    case 'constant':
      return source.key
    case 'header': {
      const event = headers.get(source.header)?.trim()
      if (!event) return undefined
      const action = source.hasAction ? textField(payload, 'action') : undefined
      return action === undefined ? event : `${event}.${action}`
    }
    case 'number': {
      const inner = source.inner === undefined ? undefined : textField(field(payload, source.inner), 'type')
      if (inner !== undefined) return inner
      const number = field(payload, 'type')
      if (!Number.isSafeInteger(number) || (number as number) < 0) return undefined
      if (number === 1 || (number === 0 && source.inner !== undefined)) return 'PING'
      return number === 2 ? 'INTERACTION_CREATE' : `type_${number}`
    }
    case 'fields':
      return source.isList && Array.isArray(payload)
        ? sameOf(payload.map((item) => keyOf(source, item)))
        : keyOf(source, payload)
    case 'entries': {
      const object = textField(payload, 'object')
      const entries = field(payload, 'entry')
      const kind = Array.isArray(entries) ? sameOf(entries.flatMap(kindsOf)) : undefined
      if (object === undefined || kind === undefined) return object
      return kind === batchKey ? kind : `${object}.${kind}`
    }
  }
}

function keyOf({ names, action, envelope }: EventSource & { from: 'fields' }, payload: unknown): string | undefined {
  const key = names.map((name) => textField(payload, name)).find((text) => text !== undefined)
  if (key !== undefined && action !== undefined) {
    const [last, ...path] = action.toReversed() as [string, ...string[]]
    const done = textField(path.reduceRight(field, payload), last)
    return done === undefined ? key : `${key}.${done}`
  }
  if (envelope === undefined || key !== envelope.type) return key
  return textField(field(payload, envelope.inner), 'type') ?? key
}

/** @returns the key that all items have; `undefined` where there are no items, `event_batch` where the keys differ. */
function sameOf(keys: (string | undefined)[]): string | undefined {
  const [first, ...others] = new Set(keys)
  return others.length > 0 ? batchKey : first
}

/** The kinds of one entry of `meta`: names of changed fields, or `messaging` and `standby` for messages. */
function kindsOf(entry: unknown): (string | undefined)[] {
  const listOf = (name: string) => {
    const list = field(entry, name)
    return Array.isArray(list) ? (list as unknown[]) : []
  }
  return [
    ...listOf('changes').map((change) => textField(change, 'field')),
    ...listOf('changed_fields').map((name) => (typeof name === 'string' ? name : undefined)),
    ...['messaging', 'standby'].filter((name) => listOf(name).length > 0),
  ]
}

export function field(value: unknown, name: string): unknown {
  const isRecord = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isRecord ? (value as Record<string, unknown>)[name] : undefined
}

export function textField(payload: unknown, name: string): string | undefined {
  const value = field(payload, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}
