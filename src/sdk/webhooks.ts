/** `@Webhook` and `@On`: a class is served at `POST /webhooks/<name>` (contract 7). */
import type { Signature, WebhookProvider } from '../wire/webhook-schemes.ts'
import { unbuilt } from './errors.ts'
import type { Class } from './modules.ts'

/**
 * Describes the HMAC signature of a sender that has no preset. The event key is the body's top-level `type`. For Standard
 * Webhooks write `standardWebhooks` instead (contract 7.3).
 *
 * @example
 * ```ts
 * const signature: SignatureSpec = {
 *   header: 'x-signature',
 *   prefix: 'sha256=',
 *   algo: 'hmac-sha256',
 *   encoding: 'hex',
 *   signs: '{ts}.{body}',
 *   timestampHeader: 'x-timestamp',
 * }
 * ```
 */
export interface SignatureSpec extends Readonly<Signature> {
  /** The header that carries the signature. */
  readonly header: string
  /** Text before the signature in the header. A value without it is refused. Default: none. */
  readonly prefix?: string
  /** The HMAC and its hash. The key is the secret's text. */
  readonly algo: 'hmac-sha256' | 'hmac-sha1'
  /** How the signature is written: lowercase hex, or base64 with padding. */
  readonly encoding: 'hex' | 'base64'
  /** The signed text. `{body}`, which it must hold, and `{ts}` are replaced. Everything else is literal. */
  readonly signs: string
  /**
   * The header that carries the Unix time in seconds. A delivery more than 300 s old or ahead is refused (contract 7.4).
   * Required when `signs` holds `{ts}`.
   */
  readonly timestampHeader?: string
}

interface WebhookBase {
  /**
   * The last segment of the URL, `/webhooks/<name>`: lowercase letters, digits and inner dashes. Two webhooks with one name
   * are refused at build.
   */
  name: string
  /**
   * The NAMES of the vault's entries that hold the secret, never the value. During a rotation the entry `previous` verifies
   * too (contract 7.5). A delivery that neither verifies is answered 401 `unauthorized`.
   *
   * @example
   * ```ts
   * const secret: WebhookOptions['secret'] = { env: 'PAYMENTS_SECRET', previous: 'PAYMENTS_SECRET_OLD' }
   * ```
   */
  secret: { env: string; previous?: string }
  /**
   * Lets each delivery take effect once: a copy is answered 200 and not handled (contract 7.7). Ids are kept for 30 days.
   * In such a handler `Database` may only read, and `Database.$asService()` writes. Default: false.
   *
   * @example
   * ```ts
   * const options: WebhookOptions = { name: 'billing', provider: 'paddle', secret: { env: 'PADDLE_SECRET' }, dedupe: true }
   * ```
   */
  dedupe?: boolean
  /**
   * Keeps deliveries in the table `webhooks.deliveries` for that number of days, from 1 to 3,650. `true` is 30 days. Of
   * refused deliveries the last 1,000 are kept (contract 7.8). Default: false.
   *
   * @example
   * ```ts
   * const record: WebhookOptions['record'] = { days: 90 }
   * ```
   */
  record?: boolean | { days: number }
  /**
   * Largest body in bytes. A longer one is answered 413 `payload_too_large`. Default: 4 MiB for forms of `sms` and `twilio`, else
   * no limit (contract 7.8).
   */
  maxBodyBytes?: number
  /**
   * The URL that the provider was given, without a query, for schemes that sign the URL (`sms`, `twilio`). Default:
   * the binding `STACK_PUBLIC_URL` and the path, else the URL of the request (contract 7.2).
   *
   * @example
   * ```ts
   * const publicUrl: WebhookOptions['publicUrl'] = 'https://hooks.example/webhooks/sms'
   * ```
   */
  publicUrl?: string
}

/** The provider `meta` asks by GET whether the URL is served, with a token that its user has typed in (contract 7.6). */
interface Subscribed {
  /** `verify` is the NAME of the vault's entry with that token. A GET request that has it is answered with its challenge. */
  secret: { verify?: string }
  provider: 'meta'
}

/**
 * The argument of `@Webhook`. It has either `provider`, a preset, or `signature`, the description of an HMAC scheme.
 *
 * @example
 * ```ts
 * const options: WebhookOptions = { name: 'payments', provider: 'stripe', secret: { env: 'STRIPE_SECRET' }, dedupe: true }
 * ```
 */
export type WebhookOptions =
  | (WebhookBase & { provider: Exclude<WebhookProvider, 'meta'>; signature?: never })
  | (WebhookBase & Subscribed & { signature?: never })
  | (WebhookBase & { signature: SignatureSpec; provider?: never })

/** The second argument of a webhook's handler. */
export interface WebhookMeta {
  /** The id of this request, `req_` and a ULID. */
  requestId: string
  /** The event key that chose the handler. */
  event: string
  /** Always `undefined` in this version. */
  env?: Record<string, string>
  /** Always `undefined` in this version. */
  environmentId?: string
}

/**
 * Receives the deliveries of one provider at `POST /webhooks/<name>`. A module lists the class in `providers`.
 *
 * The signature is verified over the bytes as they arrived. A delivery that fails is answered 401, and the log says why
 * (contract 7.9). There is no signed-in user, so handlers reach users' rows through `Database.$asService()`.
 *
 * @example
 * ```ts
 * @Webhook({ name: 'payments', provider: 'stripe', secret: { env: 'STRIPE_SECRET' } })
 * export class PaymentsWebhook {
 *   @On('invoice.paid')
 *   async paid(event: { data: { object: { id: string } } }) {
 *     await Database.$asService().sql`update invoices set paid = true where id = ${event.data.object.id}`
 *   }
 * }
 * ```
 */
export function Webhook(_options: WebhookOptions): (target: Class) => void {
  return unbuilt('Webhook')
}

/**
 * Binds the method to one event key of the class's webhook. A method may have several. The method is called with the payload
 * and a `WebhookMeta`. An event without a handler is answered 200 `{ "ok": true, "handled": false }` and logged.
 *
 * When the handler returns, both transactions commit and the answer is 200. When it throws, both roll back and the answer is
 * 500 `handler_failed`, so that the provider sends the delivery again.
 *
 * @example
 * ```ts
 * interface Push {
 *   ref: string
 * }
 *
 * @Webhook({ name: 'code', provider: 'github', secret: { env: 'GITHUB_SECRET' } })
 * export class CodeWebhook {
 *   @On<Push>('push')
 *   pushed({ ref }: Push, { requestId }: WebhookMeta) {
 *     Log.info('pushed', { ref, requestId })
 *   }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: without a type argument, the handler's own type decides
export function On<Payload = any>(
  _event: string,
): <F extends (payload: Payload, meta: WebhookMeta) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<F>,
) => void {
  return unbuilt('On')
}
