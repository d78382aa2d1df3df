/** Inbound webhooks: a class is served at `POST /webhooks/<name>`. */
import type { WebhookProvider } from '../wire/webhook-providers.ts'
import { unbuilt } from './errors.ts'
import type { Class } from './modules.ts'

/** An HMAC scheme in the sender's terms. */
export interface SignatureSpec {
  /** Header that carries the signature. */
  header: string
  /** Stripped from the header's value; a value that does not start with it is refused. */
  prefix?: string
  algo: 'hmac-sha256' | 'hmac-sha1'
  encoding: 'hex' | 'base64'
  /** What the HMAC covers: `{body}` and `{ts}` are replaced, all else is literal. Must hold `{body}`. */
  signs: string
  /** Header that carries the Unix time in seconds; required when `signs` holds `{ts}`. */
  timestampHeader?: string
}

interface WebhookBase {
  /** Path segment: lowercase letters, digits and dashes, starting and ending with a letter or digit. */
  name: string
  /** The NAME of the vault entry that holds the secret, never the value. */
  secret: { env: string }
}

export type WebhookOptions =
  | (WebhookBase & { provider: WebhookProvider; signature?: never })
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

// biome-ignore lint/suspicious/noExplicitAny: the payload's type is the handler's own
type EventHandler = (payload: any, meta: WebhookMeta) => unknown

/** Binds the method to one event key; a method may be bound to several. */
export function On(
  _event: string,
): <F extends EventHandler>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<F>) => void {
  return unbuilt('On')
}
