/** Lays out text in the columns of a terminal: its width, its line breaks, and the characters that a terminal must not get. */
import stringWidth from 'string-width'

/** One grapheme of a line as the terminal shows it. */
export interface Cell {
  text: string
  /** Offset in the line, in UTF-16 units. */
  at: number
  /** The display column of its left edge, from 0. */
  column: number
  /** Number of columns. A tab reaches to the next tab stop, and a combining mark has no width of its own. */
  width: number
}

/** Number of columns between tab stops. Tabs become blanks, because a terminal counts its stops from its left edge. */
export const tabWidth = 4

const segmenter = new Intl.Segmenter()

export function cellsOf(line: string): Cell[] {
  const cells: Cell[] = []
  let column = 0
  for (const { segment, index } of segmenter.segment(line)) {
    const text = segment === '\t' ? ' '.repeat(tabWidth - (column % tabWidth)) : harmless(segment)
    const width = stringWidth(text)
    cells.push({ text, at: index, column, width })
    column += width
  }
  return cells
}

export const widthOf = (text: string) => stringWidth(text)

/**
 * Breaks lines between words where they are wider than the columns. A word that is wider stays whole, and so does code
 * between backticks, as far as that takes at most half a line.
 * @param first begins the first line. @param rest begins each of the other lines.
 */
export function wrap(text: string, columns: number, first = '', rest = ''): string[] {
  const words = text.matchAll(new RegExp(`(?:\`[^\`]{1,${Math.floor(columns / 2)}}\`|[^ ])+ *`, 'g'))
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const [word] of words) {
    if (!isEmpty && widthOf(line + word.trimEnd()) > columns) {
      lines.push(line.trimEnd())
      line = rest
    }
    line += word
    isEmpty = false
  }
  return [...lines, line.trimEnd()]
}

/**
 * Shows control characters and bidirectional controls by their codes. The former move the cursor or colour the terminal,
 * and the latter show a line in another order than the compiler reads it.
 */
export function harmless(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) => {
    const code = character.charCodeAt(0).toString(16)
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
  })
}
