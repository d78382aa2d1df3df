/** The end of a command that has not done its work: a sentence, and an exit code for the kind (contract 10.2). */

export const exitCodes = {
  refused: 1,
  usage: 2,
  'no stack': 3,
  'port taken': 3,
  unauthorized: 4,
  changed: 5,
  unreachable: 6,
  interrupted: 130,
} as const

export class Failure extends Error {
  override name = 'Failure'
  readonly exitCode: number
  /** The sentence is printed without "error: " before it, because the stack or the build has worded it. */
  readonly isWhole: boolean

  constructor(kind: keyof typeof exitCodes, message: string, isWhole = kind === 'refused') {
    super(message)
    this.exitCode = exitCodes[kind]
    this.isWhole = isWhole
  }
}
