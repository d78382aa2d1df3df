/** Prints refusals: text on stderr, every other format on stdout (contract 8.1). */
import * as fs from 'node:fs'
import path from 'node:path'
import { type Format, toGithub, toJson, toSarif } from '../../build/formats.ts'
import type { Refusal } from '../../build/refusals/index.ts'
import { footer, type Rendering, render } from '../../build/render.ts'
import { writeOut } from './output.ts'

export interface Printing extends Pick<Rendering, 'consequence' | 'fixCommand'> {
  format: Format
  /** Version of this package. */
  version: string
  /** More builds follow, so that the output must show where each one ends. */
  isOneOfMany?: boolean
}

/** Prints the refusals of a build. With a format for machines, stdout gets all of them and stderr their count. */
export async function printRefusals(root: string, refusals: readonly Refusal[], printing: Printing): Promise<void> {
  const { format, version, isOneOfMany = false, ...rendering } = printing
  if (format === 'text') {
    if (refusals.length > 0) process.stderr.write(`${renderRefusals(root, refusals, rendering)}\n`)
    return
  }
  await writeOut(machineText(root, refusals, format, version, isOneOfMany))
  if (refusals.length > 0) process.stderr.write(`${footer(refusals, { ...rendering, stream: process.stderr })}\n`)
}

function machineText(
  root: string,
  refusals: readonly Refusal[],
  format: Exclude<Format, 'text'>,
  version: string,
  isOneOfMany: boolean,
): string {
  if (format === 'sarif') {
    const log = toSarif(refusals, prefixOf(root), version)
    return `${JSON.stringify(log, undefined, isOneOfMany ? undefined : 2)}\n`
  }
  const lines = refusals.map((one) => {
    return format === 'json' ? JSON.stringify(toJson(one)) : toGithub(one, prefixOf(root))
  })
  return [...lines, ...(isOneOfMany ? [''] : [])].map((line) => `${line}\n`).join('')
}

/** @param root absolute path of the project. */
export function renderRefusals(
  root: string,
  refusals: readonly Refusal[],
  options: Pick<Rendering, 'consequence' | 'fixCommand'> = {},
): string {
  const sourceOf = (file: string) => {
    try {
      return fs.readFileSync(path.join(root, file), 'utf8').replace(/^\ufeff/, '')
    } catch {
      return undefined
    }
  }
  return render(refusals, { sourceOf, stream: process.stderr, ...options })
}

/** The path from the root of the git repository to the project: annotations name files relative to the repository. */
function prefixOf(root: string): string {
  for (let folder = root; ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, '.git'))) {
      const prefix = path.relative(folder, root).split(path.sep).join('/')
      return prefix === '' ? '' : `${prefix}/`
    }
    if (path.dirname(folder) === folder) return ''
  }
}
