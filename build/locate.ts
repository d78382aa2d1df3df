/** Lines and columns of spans. */
import type { Location, Span } from './declaration.ts'
import type { Refusal } from './refusals/index.ts'

/** @param lineStarts offsets at which the lines of the span's file begin. The first is 0. */
export function locate(place: Span, lineStarts: readonly number[]): Location {
  const from = lineAt(lineStarts, place.start)
  const to = lineAt(lineStarts, place.end)
  return {
    ...place,
    line: from + 1,
    column: place.start - lineStarts[from]! + 1,
    endLine: to + 1,
    endColumn: place.end - lineStarts[to]! + 1,
  }
}

/** A refusal whose places have lines and columns. */
export function located(one: Refusal<Span>, program: { locate(place: Span): Location }): Refusal {
  return {
    ...one,
    place: program.locate(one.place),
    related: one.related.map(({ message, place }) => ({ message, place: program.locate(place) })),
  }
}

/** The index of the last line that begins at the offset or before it. */
export function lineAt(lineStarts: readonly number[], offset: number): number {
  let low = 0
  let high = lineStarts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (lineStarts[middle]! <= offset) low = middle
    else high = middle - 1
  }
  return low
}
