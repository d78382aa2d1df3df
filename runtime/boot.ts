/** What an isolate says of itself at its first request (contract 7.10). */
import { type Call, type Env, textBinding } from './call.ts'
import { errorFields, writeLine } from './log.ts'
import type { RouteTable } from './table.ts'

export function createBoot(table: RouteTable): (call: Call) => void {
  let said = table.webhooks.length === 0
  return (call) => {
    if (said) return
    said = true
    call.log('info', `webhooks mounted: ${table.webhooks.map(({ name }) => `/webhooks/${name}`).join(', ')}`)
    for (const { name, secret } of table.webhooks) {
      if (textBinding(call.env, secret.env) !== undefined) continue
      call.log(
        'warn',
        `webhook ${name} refuses every delivery: its secret ${secret.env} is unset (PUT /admin/vault/backend/${secret.env}; locally .dev.vars)`,
      )
    }
  }
}

/** A rejection that nobody awaits would vanish: the runtime neither answers nor logs it. */
export function logUnhandledRejections(env: () => Env): void {
  addEventListener('unhandledrejection', ({ reason }) => {
    writeLine(env(), 'error', 'a promise was rejected, and nobody awaited it', errorFields(reason))
  })
}
