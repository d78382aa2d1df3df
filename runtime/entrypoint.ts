/** A worker with methods that other workers call by RPC over a service binding. HTTP requests cannot reach them (contract 9.9). */
import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Env } from './env.ts'
import type { RpcMethod } from './table.ts'
import type { Worker } from './worker.ts'

type Method = (this: Entrypoint, ...values: unknown[]) => Promise<unknown>

class Entrypoint extends WorkerEntrypoint<Env> {
  declare ctx: ExecutionContext<object>
  declare env: Env
}

/** @returns the class that a worker exports by default. */
export function createEntrypoint(worker: Worker, methods: readonly RpcMethod[]): typeof Entrypoint {
  class Built extends Entrypoint {
    override fetch(request: Request) {
      return worker.fetch(request, this.env, this.ctx)
    }
  }
  const { scheduled } = worker
  if (scheduled) {
    Object.defineProperty(Built.prototype, 'scheduled', {
      value(this: Entrypoint, event: ScheduledController) {
        return scheduled(event, this.env, this.ctx)
      },
    })
  }
  for (const method of methods) {
    const perform: Method = function (...values) {
      return worker.perform(method, values, this.env, this.ctx)
    }
    Object.defineProperty(Built.prototype, method.handler, { value: perform })
  }
  return Built
}
