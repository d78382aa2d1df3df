/** Shows lines of source with marks below them. Places of one file that are near each other share a frame (contract 8.2). */
import { type Cell, cellsOf, harmless, tabWidth, widthOf, wrap } from './columns.ts'
import type { Location } from './declaration.ts'

export type Paint = (text: string) => string

export interface Mark {
  place: Location
  /** The character of the underline. */
  symbol: '^' | '-'
  /** Text beside the underline, or below it where both together are too wide. Empty for none. */
  label: string
  paint: Paint
}

export interface FrameOptions {
  /** The text of a line, counted from 1. `undefined` when the file or the line does not exist. */
  lineOf(file: string, line: number): string | undefined
  /** Width of the terminal in columns. */
  columns: number
  /** Styles all that is neither source nor mark. */
  dim: Paint
}

/** Largest number of lines between two places that share a frame. A reader looks at farther places one by one. */
const nearLines = 6

/** Largest number of columns by which a cut moves to the end of a word. Longer words are cut. */
const longestWord = 20

/** Frames in the order of their first marks. All gutters have one width. */
export function frames(marks: readonly Mark[], options: FrameOptions): string[] {
  const digits = Math.max(...marks.map(({ place }) => String(place.line).length))
  const header = ({ file, line, column }: Location) => `  ${options.dim('-->')} ${harmless(file)}:${line}:${column}`
  return together(marks).flatMap((group) => {
    // The file cannot be read or has become shorter, so only the places are known.
    if (group.some(({ place }) => options.lineOf(place.file, place.line) === undefined))
      return group.map(({ place, label }) => [header(place), label].filter(Boolean).join(' '))
    return [header(group[0]!.place), ...frame(group, digits, options)]
  })
}

/** Groups marks of one file so that each mark is near another one of its group. */
function together(marks: readonly Mark[]): Mark[][] {
  const groups: Mark[][] = []
  let left = marks
  while (left.length > 0) {
    const group = [left[0]!]
    left = left.slice(1)
    for (let hasGrown = true; hasGrown; ) {
      const near = left.filter((one) => group.some((other) => isNear(one.place, other.place)))
      group.push(...near)
      left = left.filter((one) => !near.includes(one))
      hasGrown = near.length > 0
    }
    groups.push(group)
  }
  return groups
}

function isNear(a: Location, b: Location): boolean {
  return a.file === b.file && Math.abs(a.line - b.line) <= nearLines
}

/** Shows only lines with marks: a line between them may contain a secret, which no refusal masks there. */
function frame(group: readonly Mark[], digits: number, options: FrameOptions): string[] {
  const byLine = [...Map.groupBy(group, ({ place }) => place.line)].sort(([a], [b]) => a - b)
  const gutter = (text: string | number) => `  ${options.dim(`${String(text).padStart(digits)} |`)}`
  const columns = options.columns - digits - 5 // The gutter and the blank behind it take 5 columns more than the digits.
  let shown: number | undefined
  return byLine.flatMap(([line, marks]) => {
    const text = options.lineOf(marks[0]!.place.file, line)!
    const rows = windows(text, marks, columns).flatMap(({ source, below }) => [
      `${gutter(line)} ${source}`.trimEnd(),
      ...below.map((row) => `${gutter('')} ${row}`),
    ])
    const hasGap = shown !== undefined && line > shown + 1
    shown = line
    return hasGap ? [gutter('…'), ...rows] : rows
  })
}

interface Window {
  source: string
  below: string[]
}

/** Repeats a line until all its marks are seen. Marks that fit into the columns together share a window. */
function windows(line: string, marks: readonly Mark[], columns: number): Window[] {
  const groups: Mark[][] = []
  for (const mark of marks.toSorted((a, b) => a.place.column - b.place.column || endOf(a, line) - endOf(b, line))) {
    const group = groups.at(-1)
    if (group && isFitting(line, [...group, mark], columns)) group.push(mark)
    else groups.push([mark])
  }
  return groups.map((group) => view(line, group, columns))
}

/** Offset in the line at which the mark ends. A place of several lines is marked up to the end of its first line. */
function endOf({ place }: Mark, line: string): number {
  return place.endLine === place.line ? place.endColumn - 1 : line.length
}

function isFitting(line: string, group: readonly Mark[], columns: number): boolean {
  const [start, end] = [group[0]!.place.column - 1, Math.max(...group.map((mark) => endOf(mark, line)))]
  // Measuring is slow, and longer text is nearly always wider.
  if (end - start > unitsFor(columns)) return false
  return widthOf(harmless(line.slice(start, end).replaceAll('\t', ' '.repeat(tabWidth)))) <= columns - 2
}

/** Largest number of UTF-16 units that is measured for a number of columns. Accents and emoji take several units for a column. */
const unitsFor = (columns: number) => columns * 4

function view(line: string, group: readonly Mark[], columns: number): Window {
  const first = group[0]!.place.column - 1
  const sliceStart = Math.max(0, first - unitsFor(columns))
  const slice = line.slice(sliceStart, first + 2 * unitsFor(columns))
  const text = slice.trimEnd()
  const isWhole = { start: sliceStart === 0, end: sliceStart + slice.length === line.length }
  const cells = cellsOf(text)
  const last = cells.at(-1)
  const total = last ? last.column + last.width : 0
  const leftEdge = (offset: number) =>
    offset >= text.length ? total : cells.findLast(({ at }) => at <= offset)!.column
  const rightEdge = (offset: number) => cells.find(({ at }) => at >= offset)?.column ?? total
  const spans = group.map((mark) => {
    const from = leftEdge(mark.place.column - 1 - sliceStart)
    return { mark, from, to: Math.max(from + 1, rightEdge(endOf(mark, line) - sliceStart)) }
  })
  const hull = { from: spans[0]!.from, to: Math.max(...spans.map(({ to }) => to)) }
  const { left, right } = cut(cells, total, hull, isWhole, columns)
  const isCut = { left: left > 0 || !isWhole.start, right: right < total || !isWhole.end }
  const shown = cells.filter(({ column, width }) => column >= left && column + width <= right)
  const source = `${isCut.left ? '…' : ''}${shown.map(({ text }) => text).join('')}${isCut.right ? '…' : ''}`
  const shift = (isCut.left ? 1 : 0) - left
  const end = right + shift + (isCut.right ? 1 : 0) // A mark that goes on is drawn below the `…`, too.
  const drawn = spans.map(({ mark, from, to }) => {
    const start = Math.max(0, from + shift)
    return { mark, start, end: Math.max(start + 1, Math.min(to + shift, end)) }
  })
  return { source, below: rowsOf(drawn, columns) }
}

/** Chooses the display columns to show: all if they fit, or else the marks and the text around them. */
function cut(
  cells: readonly Cell[],
  total: number,
  { from, to }: { from: number; to: number },
  isWhole: { start: boolean; end: boolean },
  columns: number,
): { left: number; right: number } {
  if (isWhole.start && isWhole.end && total <= columns) return { left: 0, right: total }
  const inner = columns - 2 // A `…` at both ends.
  // A span that is wider than the columns is shown from its beginning, with some text before it.
  const needed = to - from <= inner ? to : from + Math.floor((columns * 2) / 3)
  const isAtStart = isWhole.start && needed <= columns - 1
  const middle = Math.max(0, from - Math.floor((inner - (needed - from)) / 2))
  const isAtEnd = !isAtStart && isWhole.end && middle + inner >= total - 1
  const left = isAtStart ? 0 : isAtEnd ? Math.max(0, total - (columns - 1)) : middle
  const right = isAtEnd ? total : left + (isAtStart ? columns - 1 : inner)
  return {
    left: left === 0 && isWhole.start ? 0 : wordEdge(cells, left, from, 1),
    right: right >= total ? total : wordEdge(cells, right, needed, -1),
  }
}

/** The nearest column in a direction at which a cut breaks no word, or at least no name. It never lies beyond the limit. */
function wordEdge(cells: readonly Cell[], column: number, limit: number, direction: 1 | -1): number {
  const edges = cells
    .map(({ column, text }, index) => ({ column, before: cells[index - 1]?.text ?? ' ', after: text }))
    .filter((edge) => direction * (edge.column - column) >= 0 && direction * (limit - edge.column) >= 0)
    .toSorted((a, b) => direction * (a.column - b.column))
  const near = edges.filter((edge) => Math.abs(edge.column - column) <= longestWord)
  const isBlank = (text: string) => text.trim() === ''
  const edge =
    near.find(({ before, after }) => isBlank(direction === 1 ? after : before)) ??
    near.find(({ before, after }) => !(isOfName.test(before) && isOfName.test(after))) ??
    edges[0]
  return edge?.column ?? limit
}

const isOfName = /^[\p{L}\p{N}_$*]/u

interface Drawn {
  mark: Mark
  start: number
  end: number
}

/** Draws the underlines in as few rows as possible, with each label beside or below its underline. */
function rowsOf(drawn: readonly Drawn[], columns: number): string[] {
  const rows: { text: string; end: number; labels: string[] }[] = []
  for (const { mark, start, end } of drawn) {
    const { label, paint, symbol } = mark
    let row = rows.find((one) => one.end < start)
    if (!row) {
      row = { text: '', end: 0, labels: [] }
      rows.push(row)
    }
    const isBeside = end + 1 + widthOf(label) <= columns
    row.text += ' '.repeat(start - row.end) + paint(symbol.repeat(end - start) + (label && isBeside ? ` ${label}` : ''))
    row.end = label ? Number.POSITIVE_INFINITY : end
    if (label && !isBeside)
      row.labels = labelsBelow(label, start, columns).map(({ at, text }) => ' '.repeat(at) + paint(text))
  }
  return rows.flatMap(({ text, labels }) => [text, ...labels])
}

function labelsBelow(label: string, start: number, columns: number): { at: number; text: string }[] {
  const lines = wrap(label, columns)
  const at = Math.max(0, Math.min(start, columns - Math.max(...lines.map(widthOf))))
  return lines.map((text) => ({ at, text }))
}
