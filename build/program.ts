/** The files of a project, and what a name in one of them means: through imports, re-exports and tsconfig paths. */
import * as fs from 'node:fs'
import path from 'node:path'
import { ts } from 'ts-morph'
import { type ClassId, computedKey, type Entry, type Fact, type Place, spreadKey, unreadable } from './declaration.ts'
import type { Expression } from './expression.ts'
import { type DecoratorSyntax, parse, type SourceFile } from './project.ts'

export const sdkName = '@stack/backend'

/** What a name stands for. */
type Meaning =
  | { kind: 'class'; id: ClassId }
  | { kind: 'constant'; file: SourceFile; expression: Expression }
  | { kind: 'sdk'; name: string }
  | { kind: 'namespace'; file: SourceFile; from: string }

export interface Program {
  root: string
  /** The file that exports the root module, relative to the root. */
  entry: string
  /** Every file that was read, by its path relative to the root. */
  files: Map<string, SourceFile>
  /** The SDK's name of a decorator, whatever it is called here. */
  sdkDecorator(file: SourceFile, decorator: DecoratorSyntax): string | undefined
  /** What the name of a type or a value stands for; `orders.Orders` is looked up in the namespace. */
  meaningOf(file: SourceFile, name: string): Meaning | undefined
  /** What an expression stands for that is a name, or a member of a namespace. */
  meaningOfExpression(file: SourceFile, expression: Expression): Meaning | undefined
  /** The value of an expression, as far as it is known at build; its place is where it was asked for. */
  evaluate(file: SourceFile, expression: Expression): Fact
  /** Whether a relative import leads to a file; of a package only the bundler knows. */
  leadsToFile(file: SourceFile, specifier: string): boolean
  /** The file's model, read now if it was not yet; for files that only the bundle reaches. */
  read(absolutePath: string): SourceFile
}

/** @param root absolute. @param entry relative to it; every source below its folder is read (contract 1.8). */
export function openProgram(root: string, entry: string): Program {
  const files = new Map<string, SourceFile>()
  const options = compilerOptions(root)
  const resolutions = ts.createModuleResolutionCache(root, (name) => name, options)

  const relative = (absolute: string) => path.relative(root, absolute).split(path.sep).join('/')

  function read(absolute: string): SourceFile {
    const name = relative(absolute)
    const file = files.get(name) ?? parse(name, readSource(absolute))
    files.set(name, file)
    return file
  }

  for (const absolute of sourcesBelow(path.dirname(path.resolve(root, entry)))) read(absolute)

  function imported(from: SourceFile, specifier: string): SourceFile | undefined {
    const containing = path.join(root, from.path)
    const { resolvedModule } = ts.resolveModuleName(specifier, containing, options, ts.sys, resolutions)
    // by the path from here: this project may itself lie below a node_modules
    if (!resolvedModule || relative(resolvedModule.resolvedFileName).split('/').includes('node_modules'))
      return undefined
    return /(?<!\.d)\.[cm]?tsx?$/.test(resolvedModule.resolvedFileName)
      ? read(resolvedModule.resolvedFileName)
      : undefined
  }

  function meaningOf(file: SourceFile, name: string, seen = new Set<string>()): Meaning | undefined {
    if (file.classes.some((candidate) => candidate.name === name)) return { kind: 'class', id: `${file.path}#${name}` }
    const expression = file.constants.get(name)
    if (expression) return { kind: 'constant', file, expression }
    const origin = file.imports.get(name)
    return origin && meaningIn(file, origin.from, origin.name, seen)
  }

  function meaningIn(from: SourceFile, specifier: string, name: string, seen: Set<string>): Meaning | undefined {
    if (name === '*') return { kind: 'namespace', file: from, from: specifier }
    if (specifier === sdkName) return { kind: 'sdk', name }
    const file = imported(from, specifier)
    if (!file || seen.has(`${file.path}#${name}`)) return undefined
    seen.add(`${file.path}#${name}`)
    const exported = file.exports.get(name)
    if (exported) {
      return 'local' in exported
        ? meaningOf(file, exported.local, seen)
        : meaningIn(file, exported.from, exported.name, seen)
    }
    const found = file.stars.flatMap((star) => meaningIn(file, star, name, seen) ?? [])
    return found.length === 1 ? found[0] : undefined // a name that two of them export is exported by neither
  }

  function evaluate(file: SourceFile, expression: Expression, seen: readonly Expression[] = []): Fact {
    const { place } = expression
    const unknown = (text: string): Fact => ({ kind: 'unknown', text, place })
    if (seen.includes(expression)) return unknown('a constant that refers to itself')
    const inner = (part: Expression) => evaluate(file, part, [...seen, expression])
    switch (expression.kind) {
      case 'literal':
        return expression
      case 'template': {
        const parts = expression.parts.map(inner)
        let joined = ''
        for (const part of parts) {
          if (part.kind !== 'literal') return unknown(expression.text)
          joined += part.value
        }
        return { kind: 'literal', value: joined, place }
      }
      case 'list':
        return {
          kind: 'list',
          items: expression.items.flatMap((item) => (item.kind === 'spread' ? spread(inner(item.of)) : [inner(item)])),
          place,
        }
      case 'record': {
        const entries: Entry[] = []
        const spreadIn = new Set<Entry>()
        const replace = (isReplaced: (earlier: Entry) => boolean) => {
          for (const earlier of entries.filter(isReplaced)) entries.splice(entries.indexOf(earlier), 1)
        }
        for (const { key, keyPlace, value } of expression.properties) {
          if (value.kind === 'spread') {
            const of = inner(value.of)
            const added = of.kind === 'record' ? of.entries : [{ key: spreadKey, keyPlace, value: of }]
            replace((earlier) => !unreadable.has(earlier.key) && added.some((one) => one.key === earlier.key))
            for (const one of added) spreadIn.add(one)
            entries.push(...added)
          } else if (key === undefined) {
            entries.push({
              key: computedKey,
              keyPlace,
              value: { kind: 'unknown', text: computedKey, place: value.place },
            })
          } else {
            // what was spread in is replaced, as at run time; a key that is written twice stays twice, to be refused
            replace((earlier) => earlier.key === key && spreadIn.has(earlier))
            entries.push({ key, keyPlace, value: inner(value) })
          }
        }
        return { kind: 'record', entries, place }
      }
      case 'sum': {
        const terms = expression.terms.map(inner)
        const values = terms.map((term) => (term.kind === 'literal' ? term.value : undefined))
        const isText = values.some((value) => typeof value === 'string')
        if (values.some((value) => typeof value !== 'string' && typeof value !== 'number'))
          return unknown(expression.text)
        const value = isText ? values.join('') : (values as number[]).reduce((sum, term) => sum + term)
        return { kind: 'literal', value, place }
      }
      case 'name': {
        const meaning = meaningOf(file, expression.name)
        if (meaning?.kind === 'class') return { kind: 'class', id: meaning.id, place }
        if (meaning?.kind !== 'constant') return unknown(expression.name)
        return relocate(evaluate(meaning.file, meaning.expression, [...seen, expression]), place, expression.name)
      }
      case 'member': {
        const meaning = meaningOfExpression(file, expression)
        if (meaning?.kind === 'class') return { kind: 'class', id: meaning.id, place }
        if (meaning?.kind === 'constant') {
          return relocate(evaluate(meaning.file, meaning.expression, [...seen, expression]), place, expression.text)
        }
        const record = inner(expression.of)
        if (record.kind !== 'record' || record.entries.some(({ key }) => unreadable.has(key)))
          return unknown(expression.text)
        const found = record.entries.filter(({ key }) => key === expression.property)
        return found.length === 1 ? relocate(found[0]!.value, place, expression.text) : unknown(expression.text)
      }
      case 'spread':
        return unknown('...')
      case 'other':
        return unknown(expression.text)
    }
  }

  function meaningOfExpression(file: SourceFile, expression: Expression): Meaning | undefined {
    if (expression.kind === 'name') return meaningOf(file, expression.name)
    if (expression.kind !== 'member') return undefined
    const of = meaningOfExpression(file, expression.of)
    return of?.kind === 'namespace' ? meaningIn(of.file, of.from, expression.property, new Set()) : undefined
  }

  return {
    root,
    entry,
    files,
    read,
    leadsToFile(file, specifier) {
      if (!/^\.{1,2}(?:\/|$)/.test(specifier)) return true
      const containing = path.join(root, file.path)
      if (fs.existsSync(path.resolve(path.dirname(containing), specifier))) return true
      return ts.resolveModuleName(specifier, containing, options, ts.sys, resolutions).resolvedModule !== undefined
    },
    evaluate: (file, expression) => evaluate(file, expression),
    meaningOfExpression,
    meaningOf(file, name) {
      const [namespace, member] = name.split('.') as [string, string?]
      const of = meaningOf(file, namespace)
      if (member === undefined) return of
      return of?.kind === 'namespace' ? meaningIn(of.file, of.from, member, new Set()) : undefined
    },
    sdkDecorator(file, { callee }) {
      const meaning = meaningOfExpression(file, callee)
      return meaning?.kind === 'sdk' ? meaning.name : undefined
    },
  }
}

function spread(list: Fact): Fact[] {
  return list.kind === 'list' ? list.items : [{ ...list, kind: 'unknown', text: '...' } as Fact]
}

/** A constant's value, at the place where the constant is used: that is where a refusal must point. */
function relocate(fact: Fact, place: Place, text: string): Fact {
  return fact.kind === 'unknown' ? { kind: 'unknown', text, place } : { ...fact, place }
}

function readSource(absolute: string): string {
  const text = fs.readFileSync(absolute, 'utf8')
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** Sorted, so that nothing depends on the order in which a file system lists. */
function sourcesBelow(folder: string): string[] {
  if (!fs.existsSync(folder)) return []
  const found: string[] = []
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const absolute = path.join(folder, entry.name)
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules' && !entry.name.startsWith('.')) found.push(...sourcesBelow(absolute))
    } else if (/\.tsx?$/.test(entry.name) && !/\.(?:d|test|spec)\.tsx?$/.test(entry.name)) found.push(absolute)
  }
  return found
}

/** Only what decides how imports resolve. */
function compilerOptions(root: string): ts.CompilerOptions {
  const fallback: ts.CompilerOptions = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
  }
  const file = path.join(root, 'tsconfig.json')
  if (!fs.existsSync(file)) return fallback
  const { config } = ts.readConfigFile(file, ts.sys.readFile)
  const host = { ...ts.sys, readDirectory: () => [] }
  const { options } = ts.parseJsonConfigFileContent(config ?? {}, host, root)
  const { paths, baseUrl, pathsBasePath } = options as ts.CompilerOptions & { pathsBasePath?: string }
  return {
    ...fallback,
    ...(paths ? { paths } : {}),
    ...(baseUrl ? { baseUrl } : {}),
    ...(pathsBasePath ? { pathsBasePath } : {}),
  }
}
