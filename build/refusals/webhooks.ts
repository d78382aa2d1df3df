/** Refusals of webhooks. */
import { define, didYouMean } from './definition.ts'

export const webhooks = {
  'webhook-without-scheme': define<{ name: string }>({
    summary: 'A webhook declares neither `provider` nor `signature`',
    why: "Anybody can post to the URL of a webhook, and only the signature tells the provider's deliveries from all others. Without a scheme there is nothing to verify, and what is not verified reaches no handler.",
    message: ({ name }) => `${name} declares neither \`provider\` nor \`signature\`, so no delivery could be verified`,
    fix: () => "add `provider: 'payments'`, or a `signature` block",
  }),
  'webhook-with-two-schemes': define<{ name: string }>({
    summary: 'A webhook declares both `provider` and `signature`',
    why: 'A delivery is verified in one way. Only `provider` would count, and what the `signature` block says would be ignored without a word.',
    message: ({ name }) => `${name} declares both \`provider\` and \`signature\``,
    fix: () => 'keep one of them',
  }),
  'webhook-name-missing': define<{ name: string }>({
    summary: 'A webhook has no `name`',
    why: 'The name is part of the URL that the provider is given, `/webhooks/<name>`. A default taken from the class would change that URL when the class is renamed, and every delivery to the old one would get 404.',
    message: ({ name }) => `${name} has no \`name\`: it becomes the path of its URL, and there is no default`,
    fix: () => "add `name: 'payments'`, served at /webhooks/payments",
  }),
  'webhook-name-malformed': define<{ value: string }>({
    summary: 'The `name` of a webhook is not lowercase letters, digits and inner dashes',
    why: "The name is compared with the path as it was sent. A space or an accent arrives percent-encoded and would never match; a capital letter is soon mistyped in a provider's form, and such a URL gets 404.",
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
    why: 'Both would be served at one URL, where the later replaces the earlier: deliveries meant for that one would be refused with 401, or answered as handled by nobody.',
    message: ({ value }) => `two webhooks are named "${value}", and both would be served at /webhooks/${value}`,
    fix: () => 'give one of them another name',
  }),
  'webhook-provider-unknown': define<{ value: string; known: string[]; near: string | undefined }>({
    summary: 'The `provider` of a webhook is not a preset',
    why: 'The preset says where the signature stands, what it covers and how the event is named. Without one no delivery could be verified, and each of them would fail.',
    message: ({ value, near }) => `there is no provider "${value}"${didYouMean(near)}`,
    fix: ({ known }) =>
      `the providers are ${known.join(', ')}; describe any other HMAC scheme with a \`signature\` block`,
  }),
  'webhook-secret-inline': define<{ reason: string }>({
    isMasked: true,
    summary: '`secret` is a value, or its `env` is not a name that the vault accepts',
    why: 'Whoever can read the repository could sign deliveries with a secret that stands in it; what stands in `env` is written to `table.json` and the bundle too. Taken for a name, a value is never found: every delivery would be 401.',
    message: ({ reason }) => `\`secret\` does not name a binding: ${reason}`,
    fix: () => "write `secret: { env: 'PAYMENTS_SECRET' }`, and `stack secret set PAYMENTS_SECRET --stdin`",
  }),
  'webhook-without-events': define<{ name: string }>({
    summary: 'A webhook has no method with @On',
    why: 'Every genuine delivery would be answered with 200 and `handled: false`. The provider takes that for done and does not send it again.',
    message: ({ name }) => `${name} has no method with @On, so no delivery could be handled`,
    fix: () => "bind a method: `@On('invoice.paid') paid(payload, meta) {}`",
  }),
  'webhook-event-twice': define<{ event: string }>({
    summary: 'A webhook binds the same event key twice',
    why: 'An event calls one method. The later binding would replace the earlier, whose method would never run for it, although the provider is told that the event was handled.',
    message: ({ event }) => `the event "${event}" is bound twice`,
    fix: () => 'one method handles one event: remove one of the two',
  }),
  'webhook-event-impossible': define<{ event: string; provider: string; reason: string }>({
    severity: 'warning',
    summary: 'An event key is bound that the provider can never send',
    why: 'The method would never run. What it was meant for arrives under another key, is answered with 200 and `handled: false`, and the provider does not send it again.',
    message: ({ event, provider, reason }) => `no delivery of "${provider}" is ever "${event}": ${reason}`,
    fix: () => 'bind the key that arrives; one that is not bound is logged with the delivery',
  }),
  'webhook-signs-without-body': define<{ signs: string }>({
    summary: '`signs` does not contain `{body}`',
    why: 'The signature would say nothing of what was sent: whoever sees one delivery could send any other body with it, at any time, or within 300 seconds where `signs` holds `{ts}`.',
    message: ({ signs }) =>
      `\`signs: "${signs}"\` does not cover the body: whoever holds one signature could send anything`,
    fix: () => "include `{body}`, for example `signs: '{ts}.{body}'`",
  }),
  'webhook-timestamp-without-header': define<object>({
    summary: '`signs` contains `{ts}`, and no `timestampHeader` is given',
    why: 'There would be no value to put in the place of `{ts}`. What is compared would not be what the sender has signed, and every genuine delivery would be 401.',
    message: () => '`signs` holds {ts}, and no `timestampHeader` says where the time stands',
    fix: () => "add `timestampHeader: 'x-timestamp'`",
  }),
  'webhook-timestamp-unsigned': define<object>({
    severity: 'warning',
    summary: '`timestampHeader` is given, and `signs` does not contain `{ts}`',
    why: 'The time is judged, but the signature does not cover it. Whoever has recorded a delivery can send it again with a new time, so the limit of 300 seconds keeps nobody from replaying it.',
    message: () =>
      '`timestampHeader` names a time that `signs` does not cover: whoever replays a delivery can renew it',
    fix: () => 'include `{ts}` in `signs` if the sender does; else remove `timestampHeader`',
  }),
  'webhook-placeholder-unknown': define<{ placeholder: string }>({
    severity: 'warning',
    summary: '`signs` contains a placeholder other than `{body}` and `{ts}`',
    why: 'It is taken as the very characters that it is. If the sender puts a value there, what is compared is not what was signed, and every delivery is 401.',
    message: ({ placeholder }) => `${placeholder} in \`signs\` is literal text: only {body} and {ts} are replaced`,
    fix: () => 'remove it, unless the sender signs these very characters',
  }),
  'webhook-id-literal': define<object>({
    severity: 'warning',
    summary: '`signs` contains `{id}`, and the block is not that of Standard Webhooks',
    why: "Only the whole block of Standard Webhooks puts the delivery's id there. In every other block `{id}` is these four characters: what is compared is not what the sender has signed, and every delivery is 401.",
    message: () => '{id} in `signs` is literal text: only `standardWebhooks` puts the id of a delivery there',
    fix: () => 'write `signature: standardWebhooks`; else remove it, unless the sender signs these very characters',
  }),
  'webhook-verify-misplaced': define<{ provider: string }>({
    summary: '`secret.verify` is given to a webhook whose provider is not `meta`',
    why: 'It names the token of a handshake by GET that no other provider has. A webhook of another one answers GET with 405, and the entry would be stored for nothing; if it was meant to prove deliveries, they would go by the entry `env` all the same.',
    message: ({ provider }) => `\`secret.verify\` has no meaning for ${provider}: it is the token of \`meta\``,
    fix: () => 'remove it; a second secret that verifies during a rotation is `previous`',
  }),
  'webhook-result-dropped': define<{ name: string; result: string; provider: string | undefined }>({
    severity: 'warning',
    summary: 'A handler returns a value that its provider is never sent',
    why: 'The answer to a delivery is fixed, unless the handler returns a `Response`. Only `slack discord twilio meta zoom` read answers, and send a returned object as JSON. From any other webhook the value goes nowhere, and neither the caller nor the log shows it.',
    message: ({ name, result, provider }) =>
      `${name} returns ${result}, which ${provider === undefined ? 'the sender' : `"${provider}"`} is not sent`,
    fix: () => 'return nothing, or a `Response`; a value that only a test reads belongs in another method',
  }),
  'injector-in-webhook': define<{ name: string }>({
    summary: "A parameter of a webhook's handler has an injector",
    why: 'Such a handler is called with the payload and its meta, and no injector is read: the parameter would be one of these two, or `undefined`, whatever the injector says.',
    message: ({ name }) => `@${name}() has no meaning in a webhook's handler, which takes the payload and its meta`,
    fix: () => 'remove it; there is no signed-in user, so read and write through `Database.$asService()`',
  }),
}
