/** `stack explain [slug]`: what a refusal means, why it is one, a refused and an accepted program (contract 8.2). */
import * as fs from 'node:fs'
import path from 'node:path'
import { nearest } from '../../src/wire/nearest.ts'
import { Failure } from '../shared/failure.ts'
import { printJson, writeOut } from '../shared/output.ts'

export interface ExplainFlags {
  json?: boolean
}

/** The page that is generated from the catalogue and the tests' programs. */
const page = path.join(import.meta.dirname, '../../docs/refusals.md')

export async function runExplain({ json }: ExplainFlags, slug: string | undefined): Promise<void> {
  const sections = sectionsOf(fs.readFileSync(page, 'utf8'))
  if (slug === undefined) {
    return json
      ? printJson({ data: [...sections.values()].map(readSection) })
      : writeOut(`${[...sections.keys()].join('\n')}\n`)
  }
  const section = sections.get(slug)
  if (section === undefined) {
    const near = nearest(slug, [...sections.keys()])
    const hint = near ? `did you mean "${near}"?` : '`stack explain` lists them all'
    throw new Failure('usage', `there is no refusal "${slug}": ${hint}`)
  }
  return json ? printJson(readSection(section)) : writeOut(`${section}\n`)
}

/** The text below each heading that is a slug, by the slug. */
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

/** Takes a section of docs/refusals.md apart: slug, severity, summary, reason, and the three blocks of code. */
function readSection(section: string) {
  const [slug, summary, ...rest] = section.split(/\n{2,}/) as [string, string, ...string[]]
  const oneLine = (text: string) => text.replaceAll('\n', ' ')
  const why = rest.slice(0, rest.indexOf('Refused:')).map(oneLine).join(' ')
  const blocks = [...section.matchAll(/^```\w+\n([\s\S]*?)\n```$/gm)].map(([, block]) => block!)
  const [refused, output, accepted] = blocks
  const [, severity, text] = /^An? (error|warning): (.*)$/.exec(oneLine(summary))!
  return { slug, severity, summary: text, why, refused, output, accepted }
}
