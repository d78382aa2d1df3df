/** Work that follows a build while nothing else is built. A newer build replaces it. */
import type { StepOptions } from './steps.ts'

export class FollowUp {
  #aborting = new AbortController()
  #running: Promise<void> = Promise.resolve()
  /** Unresolved while a build is under way. */
  #free: PromiseWithResolvers<void> | undefined

  /** A build begins: the work of an earlier one waits, because the build must not wait for it. */
  pause(): void {
    this.#free ??= Promise.withResolvers()
  }

  /** The build has ended. After a refused build the work of the earlier one goes on. */
  resume(): void {
    this.#free?.resolve()
    this.#free = undefined
  }

  /** Replaces the work of an earlier build. @param work reports its own errors. */
  replace(work: (options: StepOptions) => Promise<void>): void {
    this.cancel()
    this.#aborting = new AbortController()
    const options = { signal: this.#aborting.signal, whenFree: async () => this.#free?.promise }
    this.#running = this.#running.then(() => work(options))
  }

  /** Ends the work before its next step. */
  cancel(): void {
    this.#aborting.abort()
  }

  /** Resolves when no work is left. */
  idle(): Promise<void> {
    return this.#running
  }
}
