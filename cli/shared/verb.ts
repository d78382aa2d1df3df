/** The shape of a verb and of a group of verbs, and the flags that several groups share. */
import { InvalidArgumentError, Option } from 'commander'

export interface Verb {
  /** The words after `stack`, like `webhooks send`. */
  name: string
  /** A description of each positional argument, by its syntax: `<name>` is required, `[name]` is optional. */
  positionals?: Record<string, string>
  /** One line, without a full stop at its end. */
  summary: string
  options: Option[]
  /** Whole command lines. The help of a group shows the first one of each verb. */
  examples: [string, ...string[]]
  /** A word of the command line may be a secret's value, so no error repeats a word that the person typed. */
  isSecret?: true
  /**
   * Runs the verb. Its module is imported here, so that `stack --help` loads no compiler.
   * @param flags the parsed options, by commander's names for them.
   */
  run(flags: object, ...positionals: (string | undefined)[]): Promise<void>
}

export interface Group {
  /** The help line of each word that leads to verbs and is none itself, like `webhooks`. */
  summaries: Record<string, string>
  verbs: Verb[]
}

export const projectFlag = () =>
  new Option('--project <dir>', 'the project (default: the nearest folder upwards with stack/project.json)')

export const environmentFlag = () =>
  new Option(
    '--env <name>',
    'an environment of stack/project.json, or local (default: the local stack that runs, else the one that `stack env use` chose)',
  )

/** The flags of every verb that calls a stack. */
export const targetFlags = () => [
  projectFlag(),
  environmentFlag(),
  new Option('--timeout <seconds>', 'longest time of the call (default: 30)').argParser(wholeNumber(1, 600)),
]

export const yesFlag = () => new Option('--yes', 'do not ask before something is ended or removed')

/** @param what the JSON output, where it is more than the printed result as JSON. */
export const jsonFlag = (what = 'print the result as JSON on stdout') => new Option('--json', what)

/** Parses a flag's value as a whole number within the bounds, both included. */
export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^[0-9]{1,5}$/.test(text) && number >= from && number <= to) return number
    throw new InvalidArgumentError(`a whole number from ${from} to ${to} is needed.`)
  }
}
