/** Which event a verified delivery is about. */
import type { Scheme } from './presets.ts'

/** @returns `undefined` where the delivery names none. */
export function eventKey(scheme: Scheme, headers: Headers, payload: unknown): string | undefined {
  if (scheme.eventHeader === undefined) return textField(payload, 'type')
  const event = headers.get(scheme.eventHeader)?.trim()
  if (!event) return undefined
  const action = textField(payload, 'action')
  return action === undefined ? event : `${event}.${action}`
}

function textField(payload: unknown, name: string): string | undefined {
  if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, name)) return undefined
  const value = (payload as Record<string, unknown>)[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
