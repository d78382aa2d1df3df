/** Inbound webhooks: a class is served at `POST /webhooks/<name>`. */
import type { Signature, WebhookProvider } from '../wire/webhook-schemes.ts'
import { unbuilt } from './errors.ts'
import type { Class } from './modules.ts'

/** An HMAC scheme in the sender's terms. */
export interface SignatureSpec extends Readonly<Signature> {
  /** Header that carries the signature. */
  readonly header: string
  /** Stripped from the header's value; a value that does not start with it is refused. */
  readonly prefix?: string
  readonly algo: 'hmac-sha256' | 'hmac-sha1'
  readonly encoding: 'hex' | 'base64'
  /** What the HMAC covers: `{body}` and `{ts}` are replaced, all else is literal. Must hold `{body}`. */
  readonly signs: string
  /** Header that carries the Unix time in seconds; required when `signs` holds `{ts}`. */
  readonly timestampHeader?: string
}

interface WebhookBase {
  /** Path segment: lowercase letters, digits and dashes, starting and ending with a letter or digit. */
  name: string
  /**
   * The NAMEs of the vault entries that hold the secret, never the value. During a rotation what `previous` holds verifies
   * too (contract 7.5).
   */
  secret: { env: string; previous?: string }
  /**
   * Each delivery takes effect once: copies are answered and not handled. `Database` may only read, `$asService()` writes.
   * A handler that throws, or answers outside 2xx, keeps neither effects nor id (contract 7.7). Default: false.
   */
  dedupe?: boolean
  /**
   * Deliveries are kept in `webhooks.deliveries`, for 30 days or so many; of refused ones the last 1,000 (contract 7.8).
   * Default: false.
   */
  record?: boolean | { days: number }
  /** Longest body; a longer one is answered 413. Without it there is no limit. */
  maxBodyBytes?: number
  /** The URL that the sender was given, where it is signed: without a query. Else `STACK_PUBLIC_URL` and the path, or the request's own. */
  publicUrl?: string
}

/** Of `meta` alone: the provider asks by GET whether the URL is yours, with a token that you have typed in there. */
interface Subscribed {
  /** `verify` is the NAME of the vault entry with that token: a GET request that has it is answered with its challenge. */
  secret: { verify?: string }
  provider: 'meta'
}

export type WebhookOptions =
  | (WebhookBase & { provider: Exclude<WebhookProvider, 'meta'>; signature?: never })
  | (WebhookBase & Subscribed & { signature?: never })
  | (WebhookBase & { signature: SignatureSpec; provider?: never })

/** Second argument of every handler. */
export interface WebhookMeta {
  /** The id of this delivery. */
  requestId: string
  /** The event key that chose the handler. */
  event: string
  /** Undefined at run time. */
  env?: Record<string, string>
  /** Undefined at run time. */
  environmentId?: string
}

/** Receives a provider's deliveries; a module lists the class in `providers`. */
export function Webhook(_options: WebhookOptions): (target: Class) => void {
  return unbuilt('Webhook')
}

/**
 * Binds the method to one event key; a method may be bound to several. `@On<Invoice>('invoice.paid')` lets the payload
 * be declared as an `Invoice`, and as nothing else.
 */
// biome-ignore lint/suspicious/noExplicitAny: without a type of its own, the payload's is the handler's
export function On<Payload = any>(
  _event: string,
): <F extends (payload: Payload, meta: WebhookMeta) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<F>,
) => void {
  return unbuilt('On')
}
