/** Where an import leads: by TypeScript's own rules, with the paths of the project's tsconfig.json. */
import * as fs from 'node:fs'
import path from 'node:path'
import type { ts as TS } from 'ts-morph'
import { compilerOptions } from './tsconfig.ts'
import { ts } from './typescript.ts'

export interface Resolver {
  options: TS.CompilerOptions
  /** The source that a specifier leads to, absolute; `undefined` for a package, a declaration file, and nothing. */
  source(from: string, specifier: string): string | undefined
  /** Whether a source was found by a search: another file could take its place without being one of those that are known. */
  hasSearched(): boolean
  /** Whether a relative specifier leads to any file; of a package only the bundler knows. */
  leads(from: string, specifier: string): boolean
}

/**
 * @param root absolute. @param isSource says of an absolute path whether it is a source that is known to exist: what leads
 * there needs no look at the disk. A resolver remembers what it found: when files come or go, there must be a new one.
 */
export function createResolver(root: string, isSource: (absolute: string) => boolean): Resolver {
  const options = compilerOptions(root)
  const cache = ts.createModuleResolutionCache(root, (name) => name, options)
  const found = new Map<string, string | undefined>()
  let hasSearched = false

  function source(from: string, specifier: string): string | undefined {
    const isRelative = specifier.startsWith('.')
    const folder = path.dirname(from)
    const key = isRelative ? path.join(folder, specifier) : `${folder}\0${specifier}`
    if (found.has(key)) return found.get(key)
    const known = isRelative ? knownAt(key, isSource) : undefined
    const resolved = known ?? resolve(from, specifier)
    hasSearched ||= known === undefined && resolved !== undefined
    found.set(key, resolved)
    return resolved
  }

  function resolve(from: string, specifier: string): string | undefined {
    const { resolvedModule } = ts.resolveModuleName(specifier, from, options, ts.sys, cache)
    const file = resolvedModule?.resolvedFileName
    // by the path from here: this project may itself lie below a node_modules
    if (!file || path.relative(root, file).split(path.sep).includes('node_modules')) return undefined
    return /(?<!\.d)\.[cm]?tsx?$/.test(file) ? path.normalize(file) : undefined
  }

  return {
    options,
    source,
    hasSearched: () => hasSearched,
    leads(from, specifier) {
      if (!/^\.{1,2}(?:\/|$)/.test(specifier)) return true
      if (source(from, specifier) !== undefined) return true
      if (fs.existsSync(path.resolve(path.dirname(from), specifier))) return true
      return ts.resolveModuleName(specifier, from, options, ts.sys, cache).resolvedModule !== undefined
    },
  }
}

/** In the order of TypeScript's own candidates. */
function knownAt(target: string, isSource: (absolute: string) => boolean): string | undefined {
  const stem = target.replace(/\.jsx?$/, '')
  const candidates = [target, `${stem}.ts`, `${stem}.tsx`]
  return candidates.find(
    (candidate) => /\.tsx?$/.test(candidate) && !candidate.endsWith('.d.ts') && isSource(candidate),
  )
}
