/** The work of an isolate's first request: it logs the webhooks (contract 7.10), and listens for unhandled rejections. */
import type { Call } from './call.ts'
import { errorFields, writeLine } from './log.ts'
import type { RouteTable } from './table.ts'
import type { nameSecrets } from './webhooks/boot.ts'

export function createBoot({ webhooks }: RouteTable, logSecrets: typeof nameSecrets | undefined): (call: Call) => void {
  let isBooted = false
  return (call) => {
    if (isBooted) return
    isBooted = true
    // the Workers runtime does not log unhandled rejections
    addEventListener('unhandledrejection', ({ reason }) => {
      writeLine(call.env, 'error', 'a promise was rejected, and no code handled it', errorFields(reason))
    })
    logSecrets?.(call, webhooks)
  }
}
