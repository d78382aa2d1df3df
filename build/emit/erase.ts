/**
 * Blanks the SDK's decorators in place: every other character keeps its line and column, so a stack trace names the
 * project's source, and neither a decorator nor a helper for one reaches the bundle (contract 2.1).
 */

export interface Span {
  /** Offsets into the text, the end exclusive. */
  start: number
  end: number
  /** Is the first thing of a member of a class. */
  onMember: boolean
}

/** A member's decorator leaves a `;`: without it, `a = 1` and a following `[x]() {}` would become one expression. */
export function erase(text: string, spans: readonly Span[]): string {
  let erased = ''
  let from = 0
  for (const { start, end, onMember } of [...spans].sort((a, b) => a.start - b.start)) {
    const blank = text.slice(start, end).replace(/[^\r\n\u2028\u2029]/g, ' ')
    erased += text.slice(from, start) + (onMember ? `;${blank.slice(1)}` : blank)
    from = end
  }
  return erased + text.slice(from)
}
