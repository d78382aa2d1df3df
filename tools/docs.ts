/**
 * Writes `docs/refusals.md` from the catalogue and the fixtures of the tests. `stack explain` prints sections of that page. With
 * `--check` it writes nothing, and fails where the page is out of date.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { refusals, slugs } from '../build/refusals/index.ts'

const root = path.resolve(import.meta.dirname, '..')
const page = path.join(root, 'docs/refusals.md')

const titles: Record<keyof typeof slugs, string> = {
  declarations: 'Files, classes and decorators',
  container: 'Modules and dependencies',
  routes: 'Routes and handlers',
  schemas: 'Request data',
  gates: 'Rules, row-level security and CORS',
  webhooks: 'Webhooks',
  crons: 'Scheduled methods',
  bundle: 'The bundle',
}

function refusalsPage(): string {
  const parts = [
    '# Refusals',
    '',
    'Everything that `stack build` refuses or warns of. `stack explain <slug>` prints a section of this page, which is',
    'generated from the catalogue in `build/refusals` and the programs in `test/build/refusals` by `npm run docs`.',
    '',
  ]
  for (const [group, title] of Object.entries(titles)) {
    parts.push(`## ${title}`, '')
    for (const slug of slugs[group as keyof typeof slugs]) {
      const definition = refusals[slug]
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

/** Makes the first letter of a summary small. A name like @Body or `auth` stays as it is. */
function lowercased(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

/** Breaks a text into lines of at most 80 columns, the usual width of a terminal. */
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

// `import.meta.main` is false under npm, because `bin/with-node.cjs` imports this file
const made = refusalsPage()
if (process.argv.includes('--check')) {
  const isCurrent = fs.existsSync(page) && fs.readFileSync(page, 'utf8') === made
  if (!isCurrent) process.stderr.write('docs/refusals.md is out of date: run `npm run docs`\n')
  process.exit(isCurrent ? 0 : 1)
}
fs.writeFileSync(page, made)
