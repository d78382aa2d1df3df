/** A refusal as people read it: what, where, the line of source, what to do. Off a terminal without colour. */
import { styleText } from 'node:util'
import type { Location } from './declaration.ts'
import type { Refusal } from './refusals/index.ts'

export interface Rendering {
  /** Text of a file by its path relative to the project; `undefined` when it cannot be read. */
  sourceOf(file: string): string | undefined
  /** Decides about colour; absent: none. */
  stream?: NodeJS.WriteStream
  /** What errors mean for the command; absent: `nothing was written`, which is true of a build. */
  consequence?: string
}

/** Columns of source that are shown: with the gutter, less than a terminal of 80. */
const widest = 72

export function render(refusals: readonly Refusal[], { sourceOf, ...others }: Rendering): string {
  // what may be a secret is shown by no refusal, whatever it is about
  const secrets = refusals.filter(({ isMasked }) => isMasked).map(({ place }) => place)
  const rendering = { ...others, sourceOf: (file: string) => masked(sourceOf(file), file, secrets) }
  const errors = refusals.filter(({ severity }) => severity === 'error').length
  const warnings = refusals.length - errors
  const blocks = refusals.map((refusal) => renderOne(refusal, rendering))
  const counts = [errors && count(errors, 'error'), warnings && count(warnings, 'warning')].filter(Boolean).join(', ')
  return [
    ...blocks,
    ...(counts ? [errors ? `${counts}: ${others.consequence ?? 'nothing was written'}` : counts] : []),
  ].join('\n')
}

function renderOne({ slug, severity, message, place, fix, related }: Refusal, rendering: Rendering): string {
  const colour = severity === 'error' ? 'red' : 'yellow'
  const paint = painter(rendering.stream)
  const head = `${severity}[${slug}]`
  const lines = [
    wrap(`${head}: ${message}`, '  ', rendering).replace(head, paint(colour, head)),
    ...frame(place, '^', '', rendering, colour),
    ...related.flatMap((other) => frame(other.place, '-', other.message, rendering, 'cyan')),
    wrap(`  fix: ${fix}`, '       ', rendering).replace('fix', paint('green', 'fix')),
  ]
  return `${lines.join('\n')}\n`
}

/** Breaks lines between words where they are wider than the terminal; without one, a sentence is one line. */
function wrap(text: string, indent: string, { stream }: Rendering): string {
  const columns = stream?.columns ? Math.max(40, stream.columns) : Number.POSITIVE_INFINITY
  const [start] = /^ */.exec(text)!
  const lines: string[] = []
  let line = ''
  for (const word of text.slice(start.length).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    const before = lines.length === 0 ? start : indent
    if (line !== '' && before.length + longer.length > columns) {
      lines.push(before + line)
      line = word
    } else line = longer
  }
  return [...lines, (lines.length === 0 ? start : indent) + line].join('\n')
}

/** The first line of a place, underlined. */
function frame(
  place: Location,
  mark: string,
  label: string,
  { sourceOf, stream }: Rendering,
  colour: Colour,
): string[] {
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
    ...marked(`  ${paint('dim', `${gutter} |`)} `, indent, underline, label, (text) => paint(colour, text)),
  ]
}

/** The label beside the underline, or below where both together are too long. */
function marked(
  gutter: string,
  indent: string,
  underline: string,
  label: string,
  paint: (text: string) => string,
): string[] {
  if (label === '') return [`${gutter}${indent}${paint(underline)}`]
  const isFitting = indent.length + underline.length + 1 + label.length <= widest
  if (isFitting) return [`${gutter}${indent}${paint(`${underline} ${label}`)}`]
  const at = Math.max(0, Math.min(indent.length, widest - label.length))
  return [`${gutter}${indent}${paint(underline)}`, `${gutter}${' '.repeat(at)}${paint(label)}`]
}

/** The source with asterisks for what stands at the places. */
function masked(source: string | undefined, file: string, places: readonly Location[]): string | undefined {
  return places
    .filter((place) => place.file === file)
    .reduce((text, { start, end }) => {
      if (text === undefined) return undefined
      const hidden = text.slice(start, end).replace(/[^\r\n]/g, '*')
      return text.slice(0, start) + hidden + text.slice(end)
    }, source)
}

type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'dim'

function painter(stream: NodeJS.WriteStream | undefined): (colour: Colour, text: string) => string {
  return (colour, text) => (stream ? styleText(colour, text, { stream }) : text)
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
