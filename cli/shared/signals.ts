/** Signals that end a running command. */

/** Time in milliseconds within which a second signal counts as the first: Ctrl-C arrives from the terminal and from npm. */
const sameInterruptMs = 1000

/** Resolves at the first SIGINT, SIGTERM or SIGHUP. A later signal ends the process at once, with exit 130. */
export function untilInterrupted(onFirst?: () => void): Promise<void> {
  let first = 0
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (first && Date.now() - first > sameInterruptMs) process.exit(130)
        first ||= Date.now()
        onFirst?.()
        resolve()
      })
    }
  })
}
