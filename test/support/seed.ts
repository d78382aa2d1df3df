/** One project with many mistakes, made from the fixtures of the refusals. */
import * as fs from 'node:fs'
import path from 'node:path'
import { refusals, type Slug } from '../../build/refusals/index.ts'

export const fixtures = path.resolve(import.meta.dirname, '../build/refusals')

/** Refusals that need evaluated schemas or types, which the build asks only where nothing else is refused. */
export const evaluated: Slug[] = [
  'schema-value-not-standard',
  'schema-not-evaluated',
  'schema-partly-unsaid',
  'text-refused-by-schema',
  'result-partly-unsaid',
]

/** @returns the path prefixes that the auth module administers, for refusals that only the auth module can get. */
export const administeredIn = (slug: Slug) => (slug === 'management-route-unguarded' ? ['/admin'] : undefined)

/** Refusals that exclude others: of the entry's one module, of the one budget, and of a file that cannot be read. */
const alone: Slug[] = [
  'entry-without-module',
  'entry-with-two-modules',
  'bundle-over-budget',
  'file-unreadable',
  'management-route-unguarded',
  ...evaluated,
]

export const seedable = (Object.keys(refusals) as Slug[]).filter((slug) => !alone.includes(slug))

/** @returns the files of a fixture by path. A line `// file: src/x.ts` begins another file. */
export function fixtureFiles(slug: string, name: 'app.ts' | 'accepted.ts'): Record<string, string> {
  const text = fs.readFileSync(path.join(fixtures, slug, name), 'utf8')
  const [entry, ...others] = text.split(/^\/\/ file: (.+)\n/m)
  const files: Record<string, string> = { 'src/app.module.ts': entry! }
  for (let i = 0; i < others.length; i += 2) files[others[i]!] = others[i + 1]!
  return files
}

/** @returns a project in which each fixture is a folder with its own module, which the root module imports. */
export function seed(slugs: readonly string[]): Record<string, string> {
  const files: Record<string, string> = {}
  for (const slug of slugs) {
    for (const [name, text] of Object.entries(fixtureFiles(slug, 'app.ts'))) {
      files[name.replace(/^src/, `src/${slug}`).replace(/^(migrations\/\d+)/, `$1_${slug}`)] = text
    }
  }
  files['tsconfig.json'] = '{ "compilerOptions": { "emitDecoratorMetadata": true } }'
  const imports = slugs.map((slug, index) => `import { AppModule as Module${index} } from './${slug}/app.module'\n`)
  files['src/app.module.ts'] = `import { Module } from '@stack/backend'\n${imports.join('')}
@Module({ imports: [${slugs.map((_, index) => `Module${index}`).join(', ')}] })
export class AppModule {}`
  return files
}
