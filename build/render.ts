/** A refusal as people read it: what, where, the line of source, what to do. Without colour where the stream is no terminal. */
import { styleText } from 'node:util'
import { harmless, widthOf, wrap } from './columns.ts'
import type { Location } from './declaration.ts'
import { type FrameOptions, frames, type Paint } from './frame.ts'
import type { Refusal, Slug } from './refusals/index.ts'

export interface Rendering {
  /** Text of a file by its path relative to the project; `undefined` when it cannot be read. */
  sourceOf(file: string): string | undefined
  /** Decides about colour and width; absent: no colour, 80 columns. */
  stream?: NodeJS.WriteStream
  /** What errors mean for the command; absent: `nothing was written`, which is true of a build. */
  consequence?: string
  /** Applies the fixes that are exact; absent: `stack build --fix`, empty: not offered, as it has run. */
  fixCommand?: string
}

/** Columns of a stream that is no terminal, or does not know: the width of a terminal of old, and of most logs. */
const defaultColumns = 80

/** Smallest number of columns that text is laid out for: in fewer, lines of source say nothing. */
const leastColumns = 40

export function render(refusals: readonly Refusal[], rendering: Rendering): string {
  if (refusals.length === 0) return ''
  const layout: Layout = {
    columns: columnsOf(rendering.stream),
    lineOf: lineReader(refusals, rendering),
    ...paintsOf(rendering.stream),
  }
  return [...refusals.map((refusal) => renderOne(refusal, layout)), footer(refusals, rendering)].join('\n')
}

/** How many there are, what follows from them, and which commands help. */
export function footer(refusals: readonly Refusal[], rendering: Omit<Rendering, 'sourceOf'>): string {
  const { stream, consequence = 'nothing was written', fixCommand = 'stack build --fix' } = rendering
  const errors = refusals.filter(({ severity }) => severity === 'error')
  const warnings = refusals.length - errors.length
  const counts = [errors.length && count(errors.length, 'error'), warnings && count(warnings, 'warning')]
  const fixable = refusals.filter(({ edits }) => edits.length > 0).length
  const commands = [
    ...(fixable > 0 && fixCommand ? [`${fixable} can be fixed: ${fixCommand}`] : []),
    `stack explain ${mostFrequent(errors.length > 0 ? errors : refusals)} says why`,
  ]
  const first = `${counts.filter(Boolean).join(', ')}${errors.length > 0 ? `: ${harmless(consequence)}` : ''}`
  const columns = columnsOf(stream)
  const together = commands.join(' · ')
  const lines = widthOf(together) <= columns ? [together] : commands
  return [first, ...lines].flatMap((line) => wrap(line, columns, '', '  ')).join('\n')
}

/** The first slug wins among equally frequent ones. */
function mostFrequent(refusals: readonly Refusal[]): Slug {
  const bySlug = [...Map.groupBy(refusals, ({ slug }) => slug)]
  return bySlug.toSorted(([, a], [, b]) => b.length - a.length)[0]![0]
}

interface Layout extends FrameOptions {
  error: Paint
  warning: Paint
  bold: Paint
  plain: Paint
}

function renderOne({ slug, severity, message, place, fix, related }: Refusal, layout: Layout): string {
  const paint = layout[severity]
  const head = `${severity}[${slug}]`
  const marks = [
    { place, symbol: '^' as const, label: '', paint },
    ...related.map((other) => ({
      place: other.place,
      symbol: '-' as const,
      label: sentence(other.message),
      paint: layout.plain,
    })),
  ]
  const lines = [
    ...wrap(`${head}: ${sentence(message)}`, layout.columns, '', '  ').map((line) => line.replace(head, paint)),
    ...frames(marks, layout),
    ...wrap(sentence(fix), layout.columns, '  fix: ', '       ').map((line) =>
      line.replace(/(?<=^ {2})fix/, layout.bold),
    ),
  ]
  return `${lines.join('\n')}\n`
}

/** What the bundler said may have several lines. */
function sentence(text: string): string {
  return harmless(text.replace(/\s*[\r\n]+\s*/g, ' '))
}

function columnsOf(stream: NodeJS.WriteStream | undefined): number {
  return Math.max(leastColumns, stream?.columns || defaultColumns)
}

/** Every file is read once. */
function lineReader(refusals: readonly Refusal[], { sourceOf }: Rendering): FrameOptions['lineOf'] {
  // no refusal shows what may be a secret
  const secrets = refusals.filter(({ isMasked }) => isMasked).map(({ place }) => place)
  const files = new Map<string, string[] | undefined>()
  return (file, line) => {
    if (!files.has(file)) files.set(file, masked(sourceOf(file), file, secrets)?.split(/\r\n|[\n\r\u2028\u2029]/))
    return files.get(file)?.[line - 1]
  }
}

/** The source with asterisks for what stands at the places. */
function masked(source: string | undefined, file: string, places: readonly Location[]): string | undefined {
  return places
    .filter((place) => place.file === file)
    .reduce((text, { start, end }) => {
      if (text === undefined) return undefined
      const hidden = text.slice(start, end).replace(/[^\r\n\u2028\u2029]/g, '*')
      return text.slice(0, start) + hidden + text.slice(end)
    }, source)
}

/**
 * Red and magenta are readable on dark and light backgrounds, where yellow, green and cyan vanish on one of them; a
 * compiler's warnings are magenta in GCC and Clang too. All else keeps the terminal's own colour. No colour tells what no word does.
 */
function paintsOf(
  stream: NodeJS.WriteStream | undefined,
): Pick<Layout, 'error' | 'warning' | 'bold' | 'dim' | 'plain'> {
  const isColoured = hasColour(stream)
  const style = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text
  return {
    error: style(['bold', 'red']),
    warning: style(['bold', 'magenta']),
    bold: style('bold'),
    dim: style('dim'),
    plain: (text) => text,
  }
}

/** Only a terminal gets colour, also where FORCE_COLOR asks for it elsewhere (contract 10.7). */
function hasColour(stream: NodeJS.WriteStream | undefined): boolean {
  const { NO_COLOR: isUnwanted, ...env } = process.env
  // without the variable, which Node takes for set where it is empty
  return Boolean(stream?.isTTY && !isUnwanted && stream.getColorDepth(env) > 1)
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
