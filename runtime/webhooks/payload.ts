/** What a verified body says: the scheme decides how it is read, not its content type (contract 7.1). */
import type { EventSource, Scheme } from '../../src/wire/webhook-schemes.ts'
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

/** The body itself where nothing reads it. */
export function parsePayload(kinds: Scheme['payload'], body: Uint8Array<ArrayBuffer>): unknown {
  for (const kind of kinds) {
    const parsed = readers[kind](body)
    if (parsed) return parsed.value
  }
  return body
}

/** @returns `undefined` where the delivery names no event. */
export function eventKey(source: EventSource, headers: Headers, payload: unknown): string | undefined {
  switch (source.from) {
    case 'constant':
      return source.key
    case 'header': {
      const event = headers.get(source.header)?.trim()
      if (!event) return undefined
      const action = textField(payload, 'action')
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
    case 'fields': {
      const { names, envelope } = source
      const key = names.map((name) => textField(payload, name)).find((text) => text !== undefined)
      if (envelope === undefined || key !== envelope.type) return key
      return textField(field(payload, envelope.inner), 'type') ?? key
    }
  }
}

export function field(value: unknown, name: string): unknown {
  const isRecord = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isRecord ? (value as Record<string, unknown>)[name] : undefined
}

export function textField(payload: unknown, name: string): string | undefined {
  const value = field(payload, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}
