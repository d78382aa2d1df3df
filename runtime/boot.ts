/** What an isolate does at its first request: says what is mounted (contract 7.10), and listens for what nobody awaits. */
import { type Call, textBinding } from './call.ts'
import { errorFields, writeLine } from './log.ts'
import type { RouteTable } from './table.ts'

export function createBoot({ webhooks }: RouteTable): (call: Call) => void {
  let isBooted = false
  return (call) => {
    if (isBooted) return
    isBooted = true
    // a rejection that nobody awaits would vanish: the runtime neither answers nor logs it
    addEventListener('unhandledrejection', ({ reason }) => {
      writeLine(call.env, 'error', 'a promise was rejected, and nobody awaited it', errorFields(reason))
    })
    if (webhooks.length === 0) return
    call.log('info', `webhooks mounted: ${webhooks.map(({ name }) => `/webhooks/${name}`).join(', ')}`)
    for (const { name, secret } of webhooks) {
      if (textBinding(call.env, secret.env) !== undefined) continue
      call.log(
        'warn',
        `webhook ${name} refuses every delivery: its secret ${secret.env} is unset (PUT /admin/vault/backend/${secret.env}; locally .dev.vars)`,
      )
    }
  }
}
