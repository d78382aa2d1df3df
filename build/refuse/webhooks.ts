/** Checks webhooks: one scheme that covers the body, one name, and one binding for each event (contract 7). */
import { nearest } from '../../src/wire/nearest.ts'
import { secretNameFault } from '../../src/wire/secrets.ts'
import {
  eventKeyFault,
  isStandardWebhooks,
  presets,
  type Signature,
  type WebhookProvider,
  webhookProviders,
} from '../../src/wire/webhook-schemes.ts'
import type { Application } from '../application.ts'
import {
  type ClassDeclaration,
  decoratorOf,
  hasRole,
  injectors,
  isReadable,
  option,
  type Span,
  type StaticValue,
  text,
} from '../declaration.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { boundEvents } from '../routes.ts'
import { checkArguments, checkForm, type Form } from './options.ts'

const string: Form = { is: 'string' }

const options: Form = {
  is: 'record',
  keys: {
    name: string,
    provider: string,
    secret: { is: 'anything' },
    dedupe: { is: 'boolean' },
    record: {
      is: 'boolean or',
      record: {
        is: 'record',
        keys: { days: { is: 'number', from: 1, to: 3650 } },
        required: { days: 'days: 30' },
      },
    },
    maxBodyBytes: { is: 'number', from: 1, to: 1_000_000_000 },
    publicUrl: { is: 'url' },
    signature: {
      is: 'record',
      keys: {
        header: { is: 'header' },
        prefix: string,
        algo: { is: 'one of', values: ['hmac-sha256', 'hmac-sha1'] },
        encoding: { is: 'one of', values: ['hex', 'base64'] },
        signs: string,
        timestampHeader: { is: 'header' },
      },
      required: {
        header: "header: 'x-signature'",
        algo: "algo: 'hmac-sha256'",
        encoding: "encoding: 'hex'",
        signs: "signs: '{body}'",
      },
    },
  },
  required: { secret: "secret: { env: 'PAYMENTS_SECRET' }" },
}

export function checkWebhooks({ declarations }: Application): Refusal<Span>[] {
  const named = new Map<string, Span>()
  return declarations.classes
    .filter((declaration) => hasRole(declaration, 'Webhook'))
    .flatMap((declaration) => {
      const record = decoratorOf(declaration, 'Webhook')!.arguments[0]
      const refused = [...checkOptions(declaration), ...checkEvents(declaration), ...checkImpossible(declaration)]
      const given = option(record, 'name')
      const value = text(given)
      const first = value === undefined ? undefined : named.get(value)
      if (first) {
        const related = [{ message: 'the first is here', place: first }]
        refused.push(refusal('webhook-name-twice', given!.place, { value: value! }, related))
      } else if (value !== undefined) named.set(value, given!.place)
      return refused
    })
}

function checkOptions(declaration: ClassDeclaration): Refusal<Span>[] {
  const decorator = decoratorOf(declaration, 'Webhook')!
  if (!decorator.isCalled) return []
  const { name } = declaration
  const { place } = decorator
  const record = decorator.arguments[0] ?? ({ kind: 'record', entries: [], place } satisfies StaticValue)
  const refused = checkArguments({ ...decorator, arguments: [record, ...decorator.arguments.slice(1)] }, [
    { form: options, what: '' },
  ])
  if (record.kind !== 'record') return refused
  const [declared, provider, signature, secret] = ['name', 'provider', 'signature', 'secret'].map((key) =>
    option(record, key),
  )
  if (isReadable(record)) {
    if (!declared) refused.push(refusal('webhook-name-missing', place, { name }))
    if (!provider && !signature) refused.push(refusal('webhook-without-scheme', place, { name }))
  }
  const value = text(declared)
  if (value !== undefined && !/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(value)) {
    refused.push(refusal('webhook-name-malformed', declared!.place, { value }))
  }
  if (provider && signature) {
    const related = [{ message: 'and this', place: signature.place }]
    refused.push(refusal('webhook-with-two-schemes', provider.place, { name }, related))
  }
  const preset = text(provider)
  if (preset !== undefined && !(webhookProviders as readonly string[]).includes(preset)) {
    const known = [...webhookProviders]
    refused.push(
      refusal('webhook-provider-unknown', provider!.place, { value: preset, known, near: nearest(preset, known) }),
    )
  }
  if (secret) refused.push(...checkSecret(secret))
  const verify = secret && option(secret, 'verify')
  if (verify && preset !== undefined && presets[preset as WebhookProvider]?.handshake !== 'subscribe') {
    refused.push(refusal('webhook-verify-misplaced', verify.place, { provider: preset }))
  } else if (verify && signature && !provider) {
    refused.push(refusal('webhook-verify-misplaced', verify.place, { provider: 'a `signature` block' }))
  }
  if (signature) refused.push(...checkSigned(signature))
  return refused
}

/** `secret` holds the NAME of an entry. A value that looks like a secret must not stand in the source. */
function checkSecret(secret: StaticValue): Refusal<Span>[] {
  if (secret.kind !== 'record' && secret.kind !== 'unknown') {
    const reason = 'write `{ env }` with the name of a binding'
    return [refusal('webhook-secret-inline', secret.place, { reason })]
  }
  const refused = checkForm(
    secret,
    {
      is: 'record',
      keys: { env: string, previous: string, verify: string },
      required: { env: "env: 'PAYMENTS_SECRET'" },
    },
    '"secret"',
  )
  for (const key of ['env', 'previous', 'verify']) {
    const given = option(secret, key)
    const entry = text(given)
    const reason = entry === undefined ? undefined : secretNameFault(entry)
    if (reason) refused.push(refusal('webhook-secret-inline', given!.place, { reason }))
  }
  return refused
}

function checkSigned(signature: StaticValue): Refusal<Span>[] {
  const given = option(signature, 'signs')
  const signs = text(given)
  if (signs === undefined || isStandard(signature)) return []
  const refused: Refusal<Span>[] = []
  if (!signs.includes('{body}')) refused.push(refusal('webhook-signs-without-body', given!.place, { signs }))
  if (signs.includes('{ts}') && !option(signature, 'timestampHeader')) {
    refused.push(refusal('webhook-timestamp-without-header', given!.place, {}))
  }
  const timestampHeader = option(signature, 'timestampHeader')
  if (timestampHeader && !signs.includes('{ts}')) {
    refused.push(refusal('webhook-timestamp-unsigned', timestampHeader.place, {}))
  }
  for (const [placeholder] of signs.matchAll(/\{[^{}]*\}/g)) {
    if (placeholder === '{body}' || placeholder === '{ts}') continue
    if (placeholder === '{id}') refused.push(refusal('webhook-id-literal', given!.place, {}))
    else refused.push(refusal('webhook-placeholder-unknown', given!.place, { placeholder }))
  }
  return refused
}

function isStandard(signature: StaticValue): boolean {
  const given = (key: string) => text(option(signature, key))
  const [header, signs, algo, encoding] = ['header', 'signs', 'algo', 'encoding'].map(given)
  if (header === undefined || signs === undefined || algo === undefined || encoding === undefined) return false
  const [prefix, timestampHeader] = [given('prefix'), given('timestampHeader')]
  return isStandardWebhooks({
    ...({ header, signs, algo, encoding } as Signature),
    ...(prefix === undefined ? {} : { prefix }),
    ...(timestampHeader === undefined ? {} : { timestampHeader }),
  })
}

/** Checks event keys of presets, whose possible keys are known. The sender decides the keys of a `signature` block. */
function checkImpossible(declaration: ClassDeclaration): Refusal<Span>[] {
  const provider = text(option(decoratorOf(declaration, 'Webhook')!.arguments[0], 'provider'))
  const isKnown = (webhookProviders as readonly (string | undefined)[]).includes(provider)
  if (!isKnown) return []
  const scheme = presets[provider as WebhookProvider]
  return boundEvents(declaration).flatMap(({ event }) => {
    const key = text(event)
    const reason = key === undefined ? undefined : eventKeyFault(scheme, key)
    return reason === undefined
      ? []
      : [refusal('webhook-event-impossible', event!.place, { event: key!, provider: provider!, reason })]
  })
}

/** Only some providers read an answer. A value that a handler returns to any other one is dropped. */
function checkResults(declaration: ClassDeclaration): Refusal<Span>[] {
  const provider = text(option(decoratorOf(declaration, 'Webhook')!.arguments[0], 'provider'))
  const isKnown = (webhookProviders as readonly (string | undefined)[]).includes(provider)
  if (isKnown && presets[provider as WebhookProvider].isInteractive) return []
  return declaration.members.flatMap(({ name, decorators, result }) =>
    result && decorators.some((decorator) => decorator.name === 'On')
      ? [refusal('webhook-result-dropped', result.place, { name, result: result.text, provider })]
      : [],
  )
}

function checkEvents(declaration: ClassDeclaration): Refusal<Span>[] {
  const bound = boundEvents(declaration)
  const refused: Refusal<Span>[] = checkResults(declaration)
  if (bound.length === 0) refused.push(refusal('webhook-without-events', declaration.place, { name: declaration.name }))
  const first = new Map<string, Span>()
  for (const { decorator, event } of bound) {
    refused.push(...checkArguments(decorator, [{ form: string, what: 'an event', required: "@On('invoice.paid')" }]))
    const key = text(event)
    if (key === undefined) continue
    const place = first.get(key)
    if (place)
      refused.push(
        refusal('webhook-event-twice', event!.place, { event: key }, [{ message: 'the first is here', place }]),
      )
    else first.set(key, event!.place)
  }
  for (const { parameters, decorators } of declaration.members) {
    if (!decorators.some(({ name }) => name === 'On')) continue
    for (const { name, place } of parameters.flatMap((parameter) => parameter.decorators)) {
      if ((injectors as readonly string[]).includes(name)) refused.push(refusal('injector-in-webhook', place, { name }))
    }
  }
  return refused
}
