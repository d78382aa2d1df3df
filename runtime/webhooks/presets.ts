/**
 * Every built-in scheme as a row: callers get the row, never the provider's name, so nothing below this table knows one
 * (contract, "Preset identifiers"; contract 7.2). The neutral presets and the real providers differ in header names.
 */
import type { WebhookProvider } from '../../src/wire/webhook-providers.ts'
import type { Signature } from '../table.ts'

export interface Scheme {
  algorithm: 'SHA-256' | 'SHA-1'
  encoding: 'hex' | 'base64'
  /** `{ts}` and `{body}` are replaced, all else is literal. */
  signs: string
  /** Where the signatures and the time stand. */
  header: string
  /** The header's value is this, then the signature. */
  prefix?: string
  /** The header's value is a list of `name=value`; these names carry the time and the signatures. */
  parts?: { timestamp: string; signature: string }
  timestampHeader?: string
  /** Header whose value starts the event key, followed by `.` and the body's `action`; absent: the body's `type`. */
  eventHeader?: string
}

const payments: Omit<Scheme, 'header'> = {
  algorithm: 'SHA-256',
  encoding: 'hex',
  signs: '{ts}.{body}',
  parts: { timestamp: 't', signature: 'v1' },
}

const codehost: Omit<Scheme, 'header' | 'eventHeader'> = {
  algorithm: 'SHA-256',
  encoding: 'hex',
  signs: '{body}',
  prefix: 'sha256=',
}

export const presets: Record<WebhookProvider, Scheme> = {
  payments: { ...payments, header: 'x-payments-signature' },
  stripe: { ...payments, header: 'stripe-signature' },
  codehost: { ...codehost, header: 'x-codehost-signature-256', eventHeader: 'x-codehost-event' },
  github: { ...codehost, header: 'x-hub-signature-256', eventHeader: 'x-github-event' },
}

/** The scheme of an explicit `signature` block: its event key is the body's `type`. */
export function schemeOf({ algo, ...block }: Signature): Scheme {
  return { ...block, algorithm: algo === 'hmac-sha1' ? 'SHA-1' : 'SHA-256' }
}
