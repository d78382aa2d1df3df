/** Makes `docs/refusals.md` of the catalogue and the tests' fixtures: the page behind `stack explain`. `--check` only compares. */
import * as fs from 'node:fs'
import path from 'node:path'
import { groups } from '../build/refusals/index.ts'

const root = path.resolve(import.meta.dirname, '..')
const page = path.join(root, 'docs/refusals.md')

const titles: Record<keyof typeof groups, string> = {
  declarations: 'Classes and decorators',
  container: 'Modules and dependencies',
  routes: 'Routes and handlers',
  schemas: 'Request data',
  gates: 'Rules',
  webhooks: 'Webhooks',
  bundle: 'The bundle',
}

function refusalsPage(): string {
  const parts = [
    '# Refusals',
    '',
    'Every declaration that `stack build` refuses or warns of. `stack explain <slug>` prints a section of this page. It is',
    'generated from the catalogue in `build/refusals` and the programs in `test/build/refusals` by `npm run docs`.',
    '',
  ]
  for (const [group, definitions] of Object.entries(groups)) {
    parts.push(`## ${titles[group as keyof typeof groups]}`, '')
    for (const [slug, definition] of Object.entries(definitions)) {
      const { summary, why } = definition
      const severity = 'severity' in definition ? 'A warning' : 'An error'
      const fixture = (name: string) =>
        fs.readFileSync(path.join(root, 'test/build/refusals', slug, name), 'utf8').trim()
      parts.push(
        `### ${slug}`,
        '',
        ...wrapped(`${severity}: ${lowercased(summary)}.`),
        '',
        ...wrapped(why),
        '',
        'Refused:',
        '',
        ...fenced('ts', fixture('app.ts')),
        ...fenced('text', fixture('expected.txt')),
        'Accepted:',
        '',
        ...fenced('ts', fixture('accepted.ts')),
      )
    }
  }
  return `${parts.join('\n').trim()}\n`
}

/** A sentence that begins with a word, and not with a name like @Body. */
function lowercased(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

/** Lines of a terminal's width. */
function wrapped(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= 80) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function fenced(language: string, text: string): string[] {
  return [`\`\`\`${language}`, text, '```', '']
}

// not only where this file is the first: under npm `bin/with-node.cjs` is, and imports it
const made = refusalsPage()
if (process.argv.includes('--check')) {
  const isCurrent = fs.existsSync(page) && fs.readFileSync(page, 'utf8') === made
  if (!isCurrent) process.stderr.write('docs/refusals.md is not what the catalogue says: run `npm run docs`\n')
  process.exit(isCurrent ? 0 : 1)
}
fs.writeFileSync(page, made)
