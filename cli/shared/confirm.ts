/** Questions before a call that cannot be undone. */
import readline from 'node:readline'
import { Failure } from './failure.ts'
import type { Target } from './target.ts'

export interface ConfirmFlags {
  yes?: boolean
}

/** Whether a person can answer: both streams are a terminal, and this is no CI. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true && !process.env['CI']
}

/**
 * Asks where a person can answer and the stack is not the local one. Scripts send the documented call without a question, unless
 * the variable `STACK_CONFIRM` is `require`.
 *
 * @param what the act, like `end every session of usr_1`. @throws Failure, exit 130, for any answer but yes.
 */
export async function confirm(what: string, { name, isLocal }: Target, { yes = false }: ConfirmFlags): Promise<void> {
  if (yes || isLocal) return
  if (!isInteractive()) {
    if (process.env['STACK_CONFIRM'] !== 'require') return
    throw new Failure('usage', `STACK_CONFIRM=require demands --yes to ${what} on ${name}`)
  }
  const answer = await ask(`${what} on ${name}? [y/N] `)
  if (!/^y(?:es)?$/i.test(answer?.trim() ?? '')) throw new Failure('interrupted', 'cancelled: nothing was sent', true)
}

/**
 * Asks one line on stderr. The terminal stays in its own line mode, so that Ctrl-C leaves it as it was.
 *
 * @param cancelled the sentence after Ctrl-C. @returns `undefined` at the end of the input. @throws Failure at Ctrl-C.
 */
export function ask(question: string, cancelled = 'cancelled: nothing was sent'): Promise<string | undefined> {
  const lines = readline.createInterface({ input: process.stdin, terminal: false })
  return new Promise((resolve, reject) => {
    const interrupted = () => {
      process.stderr.write('\n')
      reject(new Failure('interrupted', cancelled, true))
    }
    process.once('SIGINT', interrupted)
    lines.once('line', resolve)
    lines.once('close', () => {
      process.off('SIGINT', interrupted)
      resolve(undefined)
    })
    process.stderr.write(question) // the answer may come at once, and so may Ctrl-C
  }).finally(() => lines.close()) as Promise<string | undefined>
}
