/** Makes a delivery with a certain event key: the smallest one that its sender would send, plus the fields of `--data`. */
import { randomBytes } from 'node:crypto'
import { batchKey, type Scheme } from '../../src/wire/webhook-schemes.ts'
import { Failure } from '../shared/failure.ts'

export interface Sample {
  body: string
  contentType: 'application/json' | 'application/x-www-form-urlencoded'
  headers: Record<string, string>
}

type Fields = Record<string, unknown>

/** @param given the value of `--data`: the payload, or a part of it. */
export function sampleOf(scheme: Scheme, event: string, given: unknown): Sample {
  const { event: source, idField, proof } = scheme
  const timestampField = proof.by === 'hmac' ? proof.timestampField : undefined
  const id: Fields = {
    ...(idField === undefined ? {} : { [idField]: `local_${randomBytes(8).toString('hex')}` }),
    ...(timestampField === undefined ? {} : { [timestampField]: Date.now() }),
  }
  const fields = isFields(given) ? given : {}
  const isWhole = given !== undefined && !isFields(given)
  const json = (value: unknown, headers: Record<string, string> = {}): Sample => ({
    body: JSON.stringify(isWhole ? given : value),
    contentType: 'application/json',
    headers,
  })
  switch (source.from) {
    case 'constant':
      return json([{ event: 'delivered', sg_event_id: randomBytes(8).toString('hex'), ...fields }])
    case 'header': {
      if (!source.hasAction) return json(fields, { [source.header]: event })
      const dot = event.indexOf('.')
      const [name, action] = dot === -1 ? [event, undefined] : [event.slice(0, dot), event.slice(dot + 1)]
      return json({ ...fields, ...(action === undefined ? {} : { action }) }, { [source.header]: name })
    }
    case 'number': {
      const numbers: Record<string, number> = { PING: 1, INTERACTION_CREATE: 2 }
      const number = numbers[event] ?? (/^type_\d+$/.test(event) ? Number(event.slice('type_'.length)) : undefined)
      if (number !== undefined || source.inner === undefined) return json({ ...id, ...fields, type: number ?? 1 })
      return json({ version: 1, type: 1, [source.inner]: { type: event, data: fields } })
    }
    case 'fields': {
      const [first] = source.names as [string]
      const { envelope } = source
      const isInteractive = scheme.payload.includes('field') && interactiveTypes.has(event)
      const isCommand = envelope !== undefined && event.startsWith('/')
      if (isWhole && (scheme.payload[0] === 'form' || isInteractive || isCommand))
        throw new Failure('usage', '--data must be an object: it becomes a form')
      if (scheme.payload[0] === 'form') return form({ ...formField(scheme, event), ...fields })
      if (source.action !== undefined) return json({ ...id, ...fields, ...withAction(source.action, first, event) })
      if (event === 'endpoint.url_validation')
        return json({ payload: { plainToken: 'local' }, ...fields, [first]: event })
      if (envelope === undefined) return json({ ...id, ...fields, [first]: event })
      if (isInteractive) return form({ payload: { ...fields, type: event } })
      if (isCommand) return form({ text: '', ...fields, command: event })
      if (event === 'url_verification') return json({ challenge: 'challenge', ...fields, type: event })
      if (event === 'app_rate_limited') return json({ ...fields, type: event })
      return json({ ...id, type: envelope.type, [envelope.inner]: { ...fields, type: event } })
    }
    case 'entries': {
      const dot = event.indexOf('.')
      const [object, kind] = dot === -1 ? ['page', event] : [event.slice(0, dot), event.slice(dot + 1)]
      const kinds = kind === batchKey ? ['feed', 'mention'] : [kind]
      const isMessage = kind === 'messaging' || kind === 'standby'
      const changes = kinds.map((field) => ({ field, value: fields }))
      return json({
        object,
        entry: [{ id: '1', time: Date.now(), ...(isMessage ? { [kind]: [fields] } : { changes }) }],
      })
    }
  }
}

/** Types of Slack's interactive payloads, which arrive as JSON in the field `payload` of a form. All other types are events. */
const interactiveTypes: ReadonlySet<string> = new Set([
  'block_actions',
  'block_suggestion',
  'dialog_cancellation',
  'dialog_submission',
  'dialog_suggestion',
  'interactive_message',
  'message_action',
  'shortcut',
  'view_closed',
  'view_submission',
  'workflow_step_edit',
])

/** Splits `Issue.create` into the field that names the event and the text at the path of the action. */
function withAction(path: readonly string[], name: string, event: string): Fields {
  const dot = event.indexOf('.')
  if (dot === -1) return { [name]: event }
  const action = path.reduceRight<unknown>((value, key) => ({ [key]: value }), event.slice(dot + 1))
  return { [name]: event.slice(0, dot), ...(action as Fields) }
}

/** The statuses of messages and calls in Twilio's forms, by the field that holds them. */
const statusFields: Record<string, readonly string[]> = {
  SmsStatus: ['received'],
  MessageStatus: ['accepted', 'queued', 'sending', 'sent', 'delivered', 'undelivered', 'failed', 'read'],
  CallStatus: ['initiated', 'ringing', 'in-progress', 'completed', 'busy', 'no-answer'],
}

function formField({ event }: Scheme, key: string): Fields {
  const names = event.from === 'fields' ? event.names : []
  const field = names.find((name) => statusFields[name]?.includes(key)) ?? 'EventType'
  return { MessageSid: `SM${randomBytes(16).toString('hex')}`, [field]: key }
}

function form(fields: Fields): Sample {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, typeof one === 'string' ? one : JSON.stringify(one)]),
  )
  return {
    body: new URLSearchParams(pairs as [string, string][]).toString(),
    contentType: 'application/x-www-form-urlencoded',
    headers: {},
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
