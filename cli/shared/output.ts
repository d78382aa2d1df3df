/** Output of verbs on stdout. */

/** Prints JSON with two spaces, as every JSON output of a verb has. */
export function printJson(value: unknown): Promise<void> {
  return writeOut(`${JSON.stringify(value, undefined, 2)}\n`)
}

/** Resolves when stdout has taken the text. A pipe may take it later, and `process.exit` would drop the rest. */
export function writeOut(text: string): Promise<void> {
  const { stdout } = process
  return new Promise((resolve, reject) => {
    // A reader that has read enough, like `head`, closes the pipe. That is no failure, but a full disk is one.
    const failed = (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' ? resolve() : reject(error))
    stdout.once('error', failed)
    stdout.write(text, (error) => {
      if (error) return failed(error)
      stdout.off('error', failed)
      resolve()
    })
  })
}
