/** Renders refusals as text: the sentence, the place, the line of source, and the fix. Only a terminal gets colour. */
import { styleText } from 'node:util'
import { harmless, widthOf, wrap } from './columns.ts'
import type { Location } from './declaration.ts'
import { type FrameOptions, frames, type Paint } from './frame.ts'
import type { Refusal, Slug } from './refusals/index.ts'

export interface Rendering {
  /** The text of a file by its path from the project's root. `undefined` when it cannot be read. */
  sourceOf(file: string): string | undefined
  /** The stream to which the text goes. Without it there is no colour, and 80 columns. */
  stream?: NodeJS.WriteStream
  /** The consequence of errors for the command. Default: `nothing was written`, which is true of a build. */
  consequence?: string
  /** The command that applies exact fixes. Default: `stack build --fix`. Empty if it is not to be offered. */
  fixCommand?: string
}

/** Number of columns for a stream that is no terminal or does not know its width. It is the width of most logs. */
const defaultColumns = 80

/** Smallest number of columns that text is laid out for. With fewer, a line of source would show too little. */
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

/** The number of errors and warnings, their consequence, and the commands that help. */
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

/** The most frequent slug. Among equally frequent ones it is the first. */
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

/** A message on one line. Messages of the bundler may have several. */
function sentence(text: string): string {
  return harmless(text.replace(/\s*[\r\n]+\s*/g, ' '))
}

function columnsOf(stream: NodeJS.WriteStream | undefined): number {
  return Math.max(leastColumns, stream?.columns || defaultColumns)
}

/** Gives lines of files. Each file is read once. */
function lineReader(refusals: readonly Refusal[], { sourceOf }: Rendering): FrameOptions['lineOf'] {
  // No refusal may show a secret, not even one of another place on the same line.
  const secrets = refusals.filter(({ isMasked }) => isMasked).map(({ place }) => place)
  const files = new Map<string, string[] | undefined>()
  return (file, line) => {
    if (!files.has(file)) files.set(file, masked(sourceOf(file), file, secrets)?.split(/\r\n|[\n\r\u2028\u2029]/))
    return files.get(file)?.[line - 1]
  }
}

/** The source with asterisks instead of the text at the places. */
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
 * Red and magenta are readable on dark and light backgrounds. Yellow, green and cyan are not. GCC and Clang show warnings in
 * magenta, too. All other text keeps the terminal's own colour, and no colour says anything that the words do not say.
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

/** Only a terminal gets colour, even if FORCE_COLOR is set (contract 10.7). */
function hasColour(stream: NodeJS.WriteStream | undefined): boolean {
  const { NO_COLOR: isUnwanted, ...env } = process.env
  // Node takes an empty NO_COLOR for a set one, so the variable is left out of the environment it gets.
  return Boolean(stream?.isTTY && !isUnwanted && stream.getColorDepth(env) > 1)
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
