/** How a command that runs until it is ended learns of its end. */

/** On a terminal one Ctrl-C arrives twice, from the terminal and from npm. */
const sameInterruptMs = 1000

/** Resolves at the first Ctrl-C, TERM or hang-up; a later one ends the process at once. */
export function untilInterrupted(onFirst?: () => void): Promise<void> {
  let first = 0
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (first && Date.now() - first > sameInterruptMs) process.exit(130) // a person who insists
        first ||= Date.now()
        onFirst?.()
        resolve()
      })
    }
  })
}
