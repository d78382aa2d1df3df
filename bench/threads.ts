/** Threads that send, so that no measurement and no other sender waits for them. */
import { Worker } from 'node:worker_threads'
import type { Job, Measured } from './client.ts'

export interface Sender {
  /** @throws Error for an answer that is not the expected one. */
  run(job: Job): Promise<Measured>
  end(): Promise<unknown>
}

export function startSender(): Sender {
  const thread = new Worker(new URL('./client.ts', import.meta.url))
  const waiting = new Map<number, PromiseWithResolvers<Measured>>()
  let last = 0
  thread.on('message', ({ id, measured, failure }: { id: number; measured?: Measured; failure?: string }) => {
    const job = waiting.get(id)
    waiting.delete(id)
    if (measured) job?.resolve(measured)
    else job?.reject(new Error(failure))
  })
  thread.on('error', (error) => {
    for (const job of waiting.values()) job.reject(error)
  })
  return {
    run(job) {
      const id = ++last
      const done = Promise.withResolvers<Measured>()
      waiting.set(id, done)
      thread.postMessage({ id, job })
      return done.promise
    },
    end: () => thread.terminate(),
  }
}
