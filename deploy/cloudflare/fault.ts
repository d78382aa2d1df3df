/** The end of a deployment that has not done its work, in the kinds of the command's exit codes (contract 10.2). */

export type FaultKind = 'refused' | 'usage' | 'no stack' | 'unauthorized' | 'unreachable'

export class PushFault extends Error {
  override name = 'PushFault'
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string) {
    super(message)
    this.kind = kind
  }
}
