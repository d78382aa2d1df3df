/** What an isolate does at its first request: says what is mounted (contract 7.10), and listens for what nobody awaits. */
import type { Call } from './call.ts'
import { errorFields, writeLine } from './log.ts'
import type { RouteTable } from './table.ts'
import type { nameSecrets } from './webhooks/boot.ts'

export function createBoot({ webhooks }: RouteTable, tell: typeof nameSecrets | undefined): (call: Call) => void {
  let isBooted = false
  return (call) => {
    if (isBooted) return
    isBooted = true
    // a rejection that nobody awaits would vanish: the runtime neither answers nor logs it
    addEventListener('unhandledrejection', ({ reason }) => {
      writeLine(call.env, 'error', 'a promise was rejected, and nobody awaited it', errorFields(reason))
    })
    tell?.(call, webhooks)
  }
}
