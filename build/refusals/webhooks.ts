/** Refusals of webhooks. */
import { define, didYouMean } from './definition.ts'

export const webhooks = {
  'webhook-without-scheme': define<{ name: string }>({
    summary: 'A webhook declares neither `provider` nor `signature`',
    why: "Every client can post to the URL of a webhook, and only the signature tells the provider's deliveries from others. Without a scheme the runtime cannot verify a delivery, and passes no unverified delivery to a handler.",
    message: ({ name }) => `${name} declares neither \`provider\` nor \`signature\`, so no delivery could be verified`,
    fix: () => "add `provider: 'payments'`, or a `signature` block",
  }),
  'webhook-with-two-schemes': define<{ name: string }>({
    summary: 'A webhook declares both `provider` and `signature`',
    why: 'The runtime verifies a delivery in one way. It would use `provider` and ignore the `signature` block, and no message would say so.',
    message: ({ name }) => `${name} declares both \`provider\` and \`signature\``,
    fix: () => 'keep one of the two options',
  }),
  'webhook-name-missing': define<{ name: string }>({
    summary: 'A webhook has no `name`',
    why: 'The name is part of the URL that the provider is given, `/webhooks/<name>`. A default taken from the class would change that URL when the class is renamed, and every delivery to the old one would get 404.',
    message: ({ name }) => `${name} has no \`name\`, which is the last segment of its URL`,
    fix: () => "add a name: `name: 'payments'` is served at /webhooks/payments",
  }),
  'webhook-name-malformed': define<{ value: string }>({
    summary: 'The `name` of a webhook is not lowercase letters, digits and inner dashes',
    why: "The runtime compares the name with the path as the provider sends it. A space or an accent arrives percent-encoded and would never match. A capital letter is easily mistyped in a provider's form, and the wrong URL gets 404.",
    message: ({ value }) =>
      `the webhook name "${value}" must be lowercase letters, digits and dashes, starting and ending with a letter or digit`,
    fix: ({ value }) => {
      const repaired = value
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, '')
      return repaired ? `write \`name: '${repaired}'\`` : "write it like `name: 'payments'`"
    },
  }),
  'webhook-name-twice': define<{ value: string }>({
    summary: 'Two webhooks have the same `name`',
    why: 'Both would be served at one URL, where the later one replaces the earlier one. Deliveries for the earlier one would get 401, or 200 without a handler.',
    message: ({ value }) => `two webhooks are named "${value}", and both would be served at /webhooks/${value}`,
    fix: () => 'rename one of the two webhooks',
  }),
  'webhook-provider-unknown': define<{ value: string; known: string[]; near: string | undefined }>({
    summary: 'The `provider` of a webhook is not a preset',
    why: 'The preset says where the signature stands, what it covers and where the event key stands. Without a preset the runtime could verify no delivery, and each one would fail.',
    message: ({ value, near }) => `there is no provider "${value}"${didYouMean(near)}`,
    fix: ({ known }) => `use one of ${known.join(', ')}, or describe another HMAC scheme with a \`signature\` block`,
  }),
  'webhook-secret-inline': define<{ reason: string }>({
    isMasked: true,
    summary: '`secret` is a value, or its `env` is not a name that the vault accepts',
    why: 'Every reader of the repository could sign deliveries with a secret that stands in it, and the build writes `env` to `table.json` and the bundle. The runtime would also take the value for a name and find no secret, so every delivery would get 401.',
    message: ({ reason }) => `\`secret\` does not name a binding: ${reason}`,
    fix: () => "write `secret: { env: 'PAYMENTS_SECRET' }`, and run `stack secret set PAYMENTS_SECRET --stdin`",
  }),
  'webhook-without-events': define<{ name: string }>({
    summary: 'A webhook has no method with @On',
    why: 'Every genuine delivery would be answered with 200 and `handled: false`. The provider takes 200 for success and does not send the delivery again.',
    message: ({ name }) => `${name} has no method with @On, so no delivery could be handled`,
    fix: () => "bind a method: `@On('invoice.paid') paid(payload, meta) {}`",
  }),
  'webhook-event-twice': define<{ event: string }>({
    summary: 'A webhook binds the same event key twice',
    why: 'An event calls one method. The later binding would replace the earlier one, whose method would never run, although the answer says that the event was handled.',
    message: ({ event }) => `the event "${event}" is bound twice`,
    fix: () => 'remove one of the two bindings',
  }),
  'webhook-event-impossible': define<{ event: string; provider: string; reason: string }>({
    severity: 'warning',
    summary: 'An event key is bound that the provider can never send',
    why: 'The method would never run. The event arrives under another key and is answered with 200 and `handled: false`, and the provider does not send it again.',
    message: ({ event, provider, reason }) => `no delivery of "${provider}" is ever "${event}": ${reason}`,
    fix: () => 'bind the key that arrives: the log shows the key of each delivery without a handler',
  }),
  'webhook-signs-without-body': define<{ signs: string }>({
    summary: '`signs` does not contain `{body}`',
    why: 'The signature would not cover the body. An attacker who sees one delivery could send any other body with its signature, at any time, or within 300 seconds where `signs` holds `{ts}`.',
    message: ({ signs }) => `\`signs: "${signs}"\` does not cover the body, so one signature would fit every body`,
    fix: () => "add `{body}`, for example `signs: '{ts}.{body}'`",
  }),
  'webhook-timestamp-without-header': define<object>({
    summary: '`signs` contains `{ts}`, and no `timestampHeader` is given',
    why: 'The runtime would have no value for `{ts}`. It would not verify the text that the sender has signed, and every genuine delivery would get 401.',
    message: () => '`signs` holds {ts}, and no `timestampHeader` names the header with the time',
    fix: () => "add `timestampHeader: 'x-timestamp'`",
  }),
  'webhook-timestamp-unsigned': define<object>({
    severity: 'warning',
    summary: '`timestampHeader` is given, and `signs` does not contain `{ts}`',
    why: 'The runtime checks the time, but the signature does not cover it. An attacker who has recorded a delivery can send it again with a new time, so the limit of 300 seconds prevents no replay.',
    message: () =>
      '`timestampHeader` names a time that `signs` does not cover, so a replayed delivery can have a new time',
    fix: () => 'add `{ts}` to `signs` if the sender signs the time, or remove `timestampHeader`',
  }),
  'webhook-placeholder-unknown': define<{ placeholder: string }>({
    severity: 'warning',
    summary: '`signs` contains a placeholder other than `{body}` and `{ts}`',
    why: 'The runtime takes it literally. If the sender signs a value in its place, the runtime verifies another text, and every delivery gets 401.',
    message: ({ placeholder }) =>
      `${placeholder} in \`signs\` is literal text, because only {body} and {ts} are replaced`,
    fix: () => 'remove it, unless the sender signs these characters',
  }),
  'webhook-id-literal': define<object>({
    severity: 'warning',
    summary: '`signs` contains `{id}`, and the block is not that of Standard Webhooks',
    why: "Only the whole block of Standard Webhooks replaces `{id}` with the delivery's id. In every other block `{id}` is literal text, so the runtime verifies another text than the sender has signed, and every delivery gets 401.",
    message: () =>
      '{id} in `signs` is literal text, because only `standardWebhooks` replaces it with the id of the delivery',
    fix: () => 'write `signature: standardWebhooks`, or remove `{id}` unless the sender signs these characters',
  }),
  'webhook-verify-misplaced': define<{ provider: string }>({
    summary: '`secret.verify` is given to a webhook whose provider is not `meta`',
    why: 'It names the token of a handshake by GET, which only `meta` has. The webhook of another provider answers GET with 405, so the entry would have no effect. The runtime verifies deliveries with the entry `env` only.',
    message: ({ provider }) => `\`secret.verify\` has no effect for ${provider}, because it is the token of \`meta\``,
    fix: () => 'remove it, and use `previous` for a second secret during a rotation',
  }),
  'webhook-result-dropped': define<{ name: string; result: string; provider: string | undefined }>({
    severity: 'warning',
    summary: 'A handler returns a value that its provider is never sent',
    why: 'The answer to a delivery is fixed, unless the handler returns a `Response`. Only the providers `slack discord twilio meta zoom` read answers, so only their webhooks send a returned object as JSON. Any other webhook drops the value, and the log does not show it.',
    message: ({ name, result, provider }) =>
      `${name} returns ${result}, which ${provider === undefined ? 'the sender' : `"${provider}"`} is not sent`,
    fix: () => 'return nothing or a `Response`, and move a value that only a test reads into another method',
  }),
  'injector-in-webhook': define<{ name: string }>({
    summary: "A parameter of a webhook's handler has an injector",
    why: 'The runtime calls such a handler with the payload and its meta, and ignores injectors. The parameter would be one of these two values, or `undefined`.',
    message: ({ name }) => `@${name}() has no effect in a webhook's handler, which takes the payload and its meta`,
    fix: () => 'remove it, and use `Database.$asService()` for rows, because a delivery has no signed-in user',
  }),
}
