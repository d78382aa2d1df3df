/** The other side did not take a message. */
export class SendFailed extends Error {
  override name = 'SendFailed'
  /** One line: what the other side said, or what went wrong on the way. */
  readonly reply: string
  /** Another attempt would be refused as well. */
  readonly isFinal: boolean

  constructor(reply: string, isFinal: boolean) {
    super(reply)
    this.reply = reply
    this.isFinal = isFinal
  }
}

/** Milliseconds for one message, from the first byte to the last. */
export const sendMs = 20_000

/** One line of at most 500 characters: it is stored, logged and answered. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\x00-\x1f\x7f\s]+/g, ' ')
    .trim()
    .slice(0, 500)
    .toWellFormed()
}
