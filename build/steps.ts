/** Long work of this thread in steps. Between them the answers of other processes, file events and timers are handled. */
import { setImmediate } from 'node:timers/promises'

/** A generator that yields wherever the work may be interrupted. */
export type Steps<T> = Generator<void, T, void>

export interface StepOptions {
  /** Ends the work before its next step. */
  signal?: AbortSignal
  /** Resolves when the work may go on. */
  whenFree?: () => Promise<void>
}

/** Longest time in milliseconds for which steps run without a pause: an edit or an answer of esbuild waits no longer than this. */
const turnMs = 8

/** @returns `undefined` where the work was aborted. */
export async function runSteps<T>(steps: Steps<T>, { signal, whenFree }: StepOptions = {}): Promise<T | undefined> {
  for (;;) {
    await setImmediate()
    await whenFree?.()
    if (signal?.aborted) return undefined
    const end = performance.now() + turnMs
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (performance.now() < end)
  }
}
