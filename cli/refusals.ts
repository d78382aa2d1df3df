/** Refusals as the person, or their tool, asked for them: to stderr (contract 8.1). */
import * as fs from 'node:fs'
import path from 'node:path'
import { type Format, toGithub, toJson, toSarif } from '../build/formats.ts'
import type { Refusal } from '../build/refusals/index.ts'
import { render } from '../build/render.ts'

/** @param root absolute: the project. @returns text that ends with a line break, or nothing. */
export function printed(
  root: string,
  refusals: readonly Refusal[],
  format: Format,
  version: string,
  consequence?: string,
): string {
  const lines = (all: readonly string[]) => all.map((line) => `${line}\n`).join('')
  switch (format) {
    case 'json':
      return lines(refusals.map((one) => JSON.stringify(toJson(one))))
    case 'github':
      return lines(refusals.map((one) => toGithub(one, prefixOf(root))))
    case 'sarif':
      return lines([JSON.stringify(toSarif(refusals, prefixOf(root), version), undefined, 2)])
    default:
      return refusals.length === 0 ? '' : lines([renderRefusals(root, refusals, consequence)])
  }
}

/** @param consequence what errors mean, where it is more than that nothing was written. */
export function renderRefusals(root: string, refusals: readonly Refusal[], consequence?: string): string {
  const sourceOf = (file: string) => {
    try {
      return fs.readFileSync(path.join(root, file), 'utf8').replace(/^\ufeff/, '')
    } catch {
      return undefined
    }
  }
  return render(refusals, { sourceOf, stream: process.stderr, ...(consequence && { consequence }) })
}

/** Annotations name files from the repository's root. */
function prefixOf(root: string): string {
  for (let folder = root; ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, '.git'))) {
      const prefix = path.relative(folder, root).split(path.sep).join('/')
      return prefix === '' ? '' : `${prefix}/`
    }
    if (path.dirname(folder) === folder) return ''
  }
}
