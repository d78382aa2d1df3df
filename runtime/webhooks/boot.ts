/** Logs, at an isolate's first request, its webhooks and the secrets that are unset or malformed (contract 7.10). */
import type { Call } from '../call.ts'
import { textBinding } from '../env.ts'
import type { Webhook } from '../table.ts'
import { secretFault } from './secret.ts'

export function nameSecrets(call: Call, webhooks: readonly Webhook[]): void {
  call.log('info', `webhooks mounted: ${webhooks.map(({ name }) => `/webhooks/${name}`).join(', ')}`)
  for (const { name, secret, scheme } of webhooks) {
    const { proof } = scheme
    const where = (entry: string) => `(PUT /admin/vault/backend/${entry})`
    const value = textBinding(call.env, secret.env)
    const why = value === undefined ? 'is unset' : malformed(secretFault(proof, value))
    if (why)
      call.log('warn', `webhook ${name} refuses every delivery: its secret ${secret.env} ${why} ${where(secret.env)}`)
    const before = secret.previous === undefined ? undefined : textBinding(call.env, secret.previous)
    const whyBefore = before === undefined ? undefined : malformed(secretFault(proof, before))
    if (whyBefore) {
      call.log(
        'warn',
        `webhook ${name}: its previous secret ${secret.previous} ${whyBefore} ${where(secret.previous!)}`,
      )
    }
    if (secret.verify !== undefined && textBinding(call.env, secret.verify) === undefined) {
      call.log(
        'warn',
        `webhook ${name} refuses to be subscribed: its token ${secret.verify} is unset ${where(secret.verify)}`,
      )
    }
  }
}

function malformed(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : `is malformed: ${reason}`
}
