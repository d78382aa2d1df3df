/** `stack explain <slug>`: what is refused, why, a refused and an accepted program (contract 8.2). */
import * as fs from 'node:fs'
import path from 'node:path'
import { nearest } from '../src/wire/nearest.ts'
import { Failure } from './failure.ts'

/** The page that is generated from the catalogue and the fixtures. */
const page = path.join(import.meta.dirname, '../docs/refusals.md')

export function runExplain(slug: string | undefined): void {
  const sections = sectionsOf(fs.readFileSync(page, 'utf8'))
  if (slug === undefined) {
    process.stdout.write(`${[...sections.keys()].join('\n')}\n`)
    return
  }
  const section = sections.get(slug)
  if (section === undefined) {
    const near = nearest(slug, [...sections.keys()])
    const hint = near ? `did you mean "${near}"?` : '`stack explain` lists them all'
    throw new Failure('usage', `there is no refusal "${slug}": ${hint}`)
  }
  process.stdout.write(`${section}\n`)
}

/** By slug: what stands under a heading that is a slug. */
function sectionsOf(text: string): Map<string, string> {
  const [, ...parts] = text.split(/^### /m)
  return new Map(
    parts.map((part) => {
      const end = part.search(/^## /m)
      const section = (end === -1 ? part : part.slice(0, end)).trim()
      return [section.slice(0, section.indexOf('\n')), section]
    }),
  )
}
