/** Reads imports that lead to no file, with the mistake that is most likely behind each. */
import * as fs from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import type { LostImport } from '../declaration.ts'
import type { Expression } from '../expression.ts'
import type { Program } from '../program.ts'
import type { SourceFile } from '../source-file.ts'
import { isRelative, packageNameOf } from '../specifiers.ts'

export function readLostImports(program: Program, file: SourceFile): LostImport[] {
  return file.needs
    .filter((need) => isLost(program, file, need))
    .map(({ from, place }) => ({ specifier: from, place, ...meantBy(program, file, from) }))
}

/**
 * The bundler drops an import of a package that only types use, so such a package need not be installed. The file of a
 * relative import must be there either way.
 */
export function isLost(program: Program, file: SourceFile, { from, names }: SourceFile['needs'][number]): boolean {
  if (program.leadsToFile(file, from)) return false
  return isRelative(from) || !names || names.some((name) => isUsedAsValue(file, name))
}

function isUsedAsValue(file: SourceFile, name: string): boolean {
  const isRoot = (expression: Expression | undefined) => expression !== undefined && rootOf(expression) === name
  return (
    file.uses.some(isRoot) ||
    file.decorators.some(({ callee }) => isRoot(callee)) ||
    file.classes.some(({ base }) => isRoot(base)) ||
    [...file.exports.values()].some((one) => 'local' in one && one.local === name && !one.isTypeOnly)
  )
}

function rootOf(expression: Expression): string | undefined {
  if (expression.kind === 'member') return rootOf(expression.of)
  return expression.kind === 'name' ? expression.name : undefined
}

type Meant = Pick<LostImport, 'kind' | 'alias' | 'relative'>

function meantBy(program: Program, file: SourceFile, specifier: string): Meant {
  if (isRelative(specifier) || path.posix.isAbsolute(specifier)) return { kind: 'file' }
  if (isBuiltin(specifier)) return { kind: 'builtin' }
  if (program.isMapped(specifier)) return { kind: 'file' }
  if (isDeclared(program.root, packageNameOf(specifier))) return { kind: 'package' }
  const alias = aliasOf(program, specifier)
  if (alias) {
    const { file: found, ...entry } = alias
    return { kind: 'alias', alias: entry, relative: relativeTo(program.root, file, found) }
  }
  const [prefix] = /^(?:[@~#]|src)(?=\/)/.exec(specifier) ?? []
  if (prefix === undefined) return { kind: /^[~#]/.test(specifier) ? 'file' : 'package' }
  const folder = path.posix.dirname(program.entry)
  return { kind: 'prefix', alias: { pattern: `${prefix}/*`, target: `./${path.posix.join(folder, '*')}` } }
}

/** Whether the project's `package.json` names a package. The specifier of such a package is no alias. */
function isDeclared(root: string, name: string): boolean {
  if (name.startsWith('@nestjs/')) return true
  try {
    const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as Record<string, unknown>
    return ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'].some((key) => {
      const list = manifest[key]
      return typeof list === 'object' && list !== null && Object.hasOwn(list, name)
    })
  } catch {
    return false // there is no manifest, or npm would refuse it
  }
}

/** The entry of `paths` by which a specifier would lead to a file that exists. */
function aliasOf(program: Program, specifier: string): { pattern: string; target: string; file: string } | undefined {
  const [first = '', ...rest] = specifier.split('/')
  const { root } = program
  const folder = path.posix.join('.', path.posix.dirname(program.entry))
  // `@/x` usually means the entry's folder. `src/x` starts at the root, and `orders/x` at either
  const candidates = [folder, ...(folder === '.' ? [] : ['.'])].flatMap((base) => {
    const plain = {
      pattern: `${first}/*`,
      target: path.posix.join(base, first, '*'),
      name: path.posix.join(base, specifier),
    }
    if (rest.length === 0) {
      return [{ pattern: first, target: path.posix.join(base, first), name: path.posix.join(base, first) }]
    }
    return [{ pattern: `${first}/*`, target: path.posix.join(base, '*'), name: path.posix.join(base, ...rest) }, plain]
  })
  for (const { pattern, target, name } of candidates) {
    const file = sourceAt(path.join(root, name))
    if (file !== undefined) return { pattern, target: `./${target}`, file }
  }
  return undefined
}

function sourceAt(absolute: string): string | undefined {
  const stem = absolute.replace(/\.jsx?$/, '')
  const candidates = [
    absolute,
    `${stem}.ts`,
    `${stem}.tsx`,
    path.join(absolute, 'index.ts'),
    path.join(absolute, 'index.tsx'),
  ]
  return candidates.find((file) => /\.tsx?$/.test(file) && fs.statSync(file, { throwIfNoEntry: false })?.isFile())
}

/** The relative specifier of a source, without an extension, as most projects write it. */
function relativeTo(root: string, { path: from }: SourceFile, target: string): string {
  const to = path
    .relative(path.join(root, path.dirname(from)), target)
    .split(path.sep)
    .join('/')
  const stem = to.replace(/\.tsx?$/, '').replace(/\/index$/, '')
  return stem.startsWith('.') ? stem : `./${stem}`
}
