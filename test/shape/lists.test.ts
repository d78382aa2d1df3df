/** Every closed list is complete, and the statements of the repository about itself are true. */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ambientServices, decoratorNames } from '../../build/declaration.ts'
import { groups, slugs } from '../../build/refusals/index.ts'
import { exitCodes } from '../../cli/shared/failure.ts'
import { verbs } from '../../cli/verbs.ts'
import { auditEvents } from '../../src/auth/audit/events.ts'
import { authErrors } from '../../src/auth/shared/errors.ts'
import { errorCodes } from '../../src/wire/envelope.ts'
import { userId } from '../../src/wire/ids.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'
import { webhookProviders } from '../../src/wire/webhook-schemes.ts'

const root = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8')

function tracked(...endings: string[]): string[] {
  const skipped = /^(?:node_modules|\.git|dist)$|^\.stack$/
  const walk = (folder: string): string[] =>
    fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      if (skipped.test(entry.name)) return []
      const name = path.posix.join(folder, entry.name)
      return entry.isDirectory() ? walk(name) : [name]
    })
  return walk('.').filter((name) => endings.some((ending) => name.endsWith(ending)))
}

const code = tracked('.ts', '.cjs', '.sql', '.md', '.json', '.toml', '.ci/run').filter(
  (name) => name !== 'package-lock.json',
)

/** @returns the text of a numbered rule of docs/contract.md. */
function rule(number: string): string {
  const page = read('docs/contract.md')
  const start = page.indexOf(`- **${number}**`)
  expect([number, start >= 0]).toEqual([number, true])
  const length = page.slice(start + 2).search(/\n- \*\*\d+\.\d+\*\*|\n## /)
  return page.slice(start, length === -1 ? undefined : start + 2 + length)
}

/** @returns the text below a heading of docs/contract.md, up to the next heading of any level. */
function section(heading: string): string {
  const page = read('docs/contract.md')
  const start = page.search(new RegExp(`^#+ ${heading.replaceAll('.', '\\.')}$`, 'm'))
  expect([heading, start >= 0]).toEqual([heading, true])
  const length = page.slice(start + 2).search(/\n#+ /)
  return page.slice(start, length === -1 ? undefined : start + 2 + length)
}

/** @returns the words in code spans. */
function codeWords(text: string): Set<string> {
  const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span!)
  return new Set(spans.flatMap((span) => span.split(/[\s|[\](){}<>,=]+/)))
}

describe('closed lists', () => {
  it('every error code that is thrown stands in a list', () => {
    const known = new Set([...Object.keys(errorCodes), ...Object.keys(authErrors)])
    const used = tracked('.ts')
      .filter((name) => /^(?:runtime|src)\//.test(name))
      .flatMap((name) => [
        ...read(name).matchAll(/(?:httpError|authError)\(\s*'([a-z_]+)'|new HttpError\(\s*\d+,\s*'([a-z_]+)'/g),
      ])
      .map(([, one, other]) => one ?? other!)
    expect(used.filter((name) => !known.has(name))).toEqual([])
    expect(used.length).toBeGreaterThan(20)
  })

  it('the index of refusals names each slug below its file, and a file for each group', () => {
    const defined = Object.fromEntries(Object.entries(groups).map(([group, of]) => [group, Object.keys(of)]))
    expect(defined).toEqual(slugs)
    const files = fs.readdirSync(path.join(root, 'build/refusals')).map((name) => name.replace(/\.ts$/, ''))
    expect(files.filter((name) => name !== 'index' && name !== 'definition').sort()).toEqual(Object.keys(slugs).sort())
    const all = Object.values(slugs).flat()
    expect(all.length).toBe(new Set(all).size)
  })

  it('the form of a user’s id and the path of the local stack’s record stand in one file each', () => {
    const rooms = tracked('.ts').filter((name) => /^(?:src|runtime|build|local|cli)\//.test(name))
    const holding = (pattern: RegExp) => rooms.filter((name) => pattern.test(read(name)))
    expect(holding(/\^usr_\[/)).toEqual(['src/wire/ids.ts'])
    expect(holding(/^(?!\s*(?:\/?\*|\/\/)).*['"/]local\.json['"]/m)).toEqual(['src/wire/project-paths.ts'])
    expect(read('src/auth/migrations/0002_tables.sql')).toContain(`check (id ~ '${userId.source}')`)
    expect(codeWords(rule('1.3') + rule('1.5') + rule('1.6'))).toContain(projectPaths.localRecord)
  })

  it('every event of the audit trail is recorded by a feature', () => {
    const features = tracked('.ts').filter(
      (name) => /^src\/auth(?:-debug)?\//.test(name) && !name.startsWith('src/auth/audit/'),
    )
    const text = features.map(read).join('\n')
    expect(auditEvents.filter((event) => !text.includes(`'${event}'`))).toEqual([])
  })

  it('the decorators that the build knows are those that the SDK exports', () => {
    const exported = [
      ...read('src/sdk/index.ts').matchAll(
        /export \{([^}]*)\} from '.\/(?:modules|routes|injectors|webhooks|cron)\.ts'/g,
      ),
    ]
      .flatMap(([, names]) => names!.split(','))
      .map((name) => name.trim())
      .filter((name) => name && !name.startsWith('type '))
    expect(exported.sort()).toEqual([...decoratorNames].sort())
  })

  it('the ambient services that the build knows are those that the SDK exports', () => {
    const [, names = ''] = /export \{([^}]*)\} from '.\/ambient.ts'/.exec(read('src/sdk/index.ts')) ?? []
    const exported = names.split(',').map((name) => name.trim())
    expect(exported.filter((name) => name && !name.startsWith('type ')).sort()).toEqual([...ambientServices].sort())
  })

  it('docs/contract.md names every error code, provider, verb, flag and exit code', () => {
    const missing = (place: string, words: readonly string[]) => {
      const known = codeWords(place)
      return words.filter((word) => !known.has(word))
    }
    expect(missing(rule('6.2'), [...Object.keys(errorCodes), ...Object.keys(authErrors)])).toEqual([])
    expect(missing(rule('7.2') + section('Preset identifiers'), webhookProviders)).toEqual([])
    const flags = verbs.flatMap(({ options }) => options.map(({ long }) => long!))
    const commands = section('10. Command line') + section('Management routes') + rule('8.1') + rule('8.2')
    expect(missing(commands, [...verbs.flatMap(({ name }) => name.split(' ')), ...flags])).toEqual([])
    const numbers = new Set([...rule('10.2').matchAll(/(?<![\d.])(\d+)(?![\d.])/g)].map(([, number]) => number))
    expect(Object.values(exitCodes).filter((number) => !numbers.has(String(number)))).toEqual([])
  })

  it('every rule that code or tests quote stands in docs/contract.md', () => {
    const rules = new Set([...read('docs/contract.md').matchAll(/^- \*\*(\d+\.\d+)\*\*/gm)].map(([, number]) => number))
    const quoted = code
      .filter((name) => name.endsWith('.ts') || name.endsWith('.sql'))
      .flatMap((name) => [...read(name).matchAll(/contract (\d+\.\d+)/g)].map(([, number]) => number))
    expect([...new Set(quoted)].filter((number) => !rules.has(number))).toEqual([])
    expect(rules.size).toBeGreaterThan(50)
  })
})

describe('the repository', () => {
  it('pins every version exactly', () => {
    for (const manifest of ['package.json', 'tools/node/package.json']) {
      const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read(manifest))
      for (const version of Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
        expect(version).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/)
      }
    }
  })

  it('has one esbuild, one workerd and one miniflare', () => {
    const { packages } = JSON.parse(read('package-lock.json'))
    for (const name of ['esbuild', 'workerd', 'miniflare', 'typescript']) {
      const copies = Object.keys(packages).filter((key) => key.endsWith(`node_modules/${name}`))
      // attw checks the package with a TypeScript of its own
      const own = copies.filter((key) => !key.startsWith('node_modules/@arethetypeswrong/'))
      expect(own).toEqual([`node_modules/${name}`])
    }
  })

  it('locks every platform’s package: a registry that lacks one would leave a lock that npm ci refuses', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>
    }
    const missing = Object.values(packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => !Object.keys(packages).some((key) => key.endsWith(`node_modules/${name}`)))
    expect(missing).toEqual([])
  })

  it('runs no install script: every package that has one is denied by name', () => {
    const { packages } = JSON.parse(read('package-lock.json'))
    const { allowScripts } = JSON.parse(read('package.json'))
    const withScript = Object.entries<{ hasInstallScript?: boolean }>(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([key]) => key.replace(/^.*node_modules\//, ''))
    expect(Object.keys(allowScripts).sort()).toEqual([...new Set(withScript)].sort())
    expect(Object.values(allowScripts).every((isAllowed) => isAllowed === false)).toBe(true)
  })

  it('names no registry host and no path of a machine', () => {
    const forbidden = /registry\.npmjs|\/(?:root|work|farm)\/|\/home\/[a-z]/
    expect(
      [...code, 'package-lock.json'].filter(
        (name) => name !== 'test/shape/lists.test.ts' && forbidden.test(read(name)),
      ),
    ).toEqual([])
  })

  it('says which tests it skips, where it skips any', () => {
    const conditional = tracked('.test.ts').filter((name) => /\b(?:it|describe)\.(?:skipIf|runIf)\(/.test(read(name)))
    const silent = conditional.filter((name) => !/process\.stderr\.write\('[^']*\bskipped\b/.test(read(name)))
    expect(silent.filter((name) => name !== 'test/shape/lists.test.ts')).toEqual([])
    expect(conditional.length).toBeGreaterThanOrEqual(3)
  })

  it('repeats no test until it passes', () => {
    expect(tracked('.test.ts', 'vitest.config.ts').filter((name) => /\bretry: \d/.test(read(name)))).toEqual([])
  })

  it('holds no test that is skipped or focused without a reason', () => {
    const tests = tracked('.test.ts').filter((name) =>
      /\b(?:it|describe|test)\.(?:only|todo|fails)\b|\b(?:it|describe)\.skip\(/.test(read(name)),
    )
    expect(tests.filter((name) => name !== 'test/shape/lists.test.ts')).toEqual([])
  })
})
