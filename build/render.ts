/** A refusal as people read it: what, where, the line of source, what to do. Off a terminal without colour. */
import { styleText } from 'node:util'
import type { Place } from './declaration.ts'
import type { Refusal } from './refusals.ts'

export interface Rendering {
  /** Text of a file by its path relative to the project; `undefined` when it cannot be read. */
  sourceOf(file: string): string | undefined
  /** Decides about colour; absent: none. */
  stream?: NodeJS.WriteStream
}

/** Columns of source that are shown: with the gutter, less than a terminal of 80. */
const widest = 72

export function render(refusals: readonly Refusal[], rendering: Rendering): string {
  const errors = refusals.filter(({ severity }) => severity === 'error').length
  const warnings = refusals.length - errors
  const blocks = refusals.map((refusal) => renderOne(refusal, rendering))
  const counts = [errors && count(errors, 'error'), warnings && count(warnings, 'warning')].filter(Boolean).join(', ')
  return [...blocks, ...(counts ? [errors ? `${counts}: nothing was written` : counts] : [])].join('\n')
}

function renderOne({ slug, severity, message, place, fix, related, isMasked }: Refusal, rendering: Rendering): string {
  const colour = severity === 'error' ? 'red' : 'yellow'
  const paint = painter(rendering.stream)
  const lines = [
    `${paint(colour, `${severity}[${slug}]`)}: ${message}`,
    ...frame(place, '^', '', isMasked ? masked(rendering, place) : rendering, colour),
    ...related.flatMap((other) => frame(other.place, '-', other.message, rendering, 'cyan')),
    `  ${paint('green', 'fix')}: ${fix}`,
  ]
  return `${lines.join('\n')}\n`
}

/** The first line of a place, underlined. */
function frame(place: Place, mark: string, label: string, { sourceOf, stream }: Rendering, colour: Colour): string[] {
  const paint = painter(stream)
  const at = `  ${paint('dim', '-->')} ${place.file}:${place.line}:${place.column}`
  const line = sourceOf(place.file)?.split(/\r?\n/)[place.line - 1]
  if (line === undefined) return [label ? `${at} ${label}` : at]
  const number = String(place.line)
  const gutter = ' '.repeat(number.length)
  const end = place.endLine === place.line ? place.endColumn : line.length + 1
  // a line that is too long is cut on the left, so that the mark and what stands before it are seen
  const from = line.length <= widest ? 0 : Math.max(0, Math.min(place.column - 25, line.length - widest))
  const shown = line.slice(from, from + widest)
  // a tab stays a tab, so that the mark stands under what it marks
  const indent = line.slice(from, place.column - 1).replace(/[^\t]/g, ' ')
  const underline = mark.repeat(Math.max(1, Math.min(end, from + widest + 1) - place.column))
  return [
    at,
    `  ${paint('dim', `${number} |`)} ${shown}`,
    `  ${paint('dim', `${gutter} |`)} ${indent}${paint(colour, label ? `${underline} ${label}` : underline)}`,
  ]
}

/** The source with asterisks for what stands at the place. */
function masked(rendering: Rendering, { line, column, endLine, endColumn }: Place): Rendering {
  return {
    ...rendering,
    sourceOf: (file) =>
      rendering
        .sourceOf(file)
        ?.split('\n')
        .map((text, index) => {
          if (index + 1 < line || index + 1 > endLine) return text
          const from = index + 1 === line ? column - 1 : 0
          const to = index + 1 === endLine ? endColumn - 1 : text.length
          return text.slice(0, from) + '*'.repeat(Math.max(0, to - from)) + text.slice(to)
        })
        .join('\n'),
  }
}

type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'dim'

function painter(stream: NodeJS.WriteStream | undefined): (colour: Colour, text: string) => string {
  return (colour, text) => (stream ? styleText(colour, text, { stream }) : text)
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** One object for a machine (contract 8.2). */
export function toJson({ slug, severity, message, place, fix, related }: Refusal): object {
  const flat = ({ file, line, column, endLine, endColumn }: Place) => ({
    file,
    line,
    column,
    end_line: endLine,
    end_column: endColumn,
  })
  return {
    slug,
    severity,
    message,
    ...flat(place),
    fix,
    related: related.map((other) => ({ message: other.message, ...flat(other.place) })),
  }
}
