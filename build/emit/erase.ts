/**
 * Replaces the SDK's decorators by blanks. All other characters keep their line and column, so stack traces name the right
 * places, and neither a decorator nor a helper for decorators reaches the bundle (contract 2.1).
 */

export interface Span {
  /** Offset in the text. `end` is exclusive. */
  start: number
  end: number
  /** The decorator is the first token of a class member. */
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
