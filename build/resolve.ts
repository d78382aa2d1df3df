/** Where an import leads: by TypeScript's own rules, with the paths of the project's tsconfig.json. */
import * as fs from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import type { ts as TS } from 'ts-morph'
import { isRelative, packageNameOf } from './specifiers.ts'
import { compilerOptions } from './tsconfig.ts'
import { ts } from './typescript.ts'

export interface Resolver {
  options: TS.CompilerOptions
  /** The source that a specifier leads to, absolute; `undefined` for a package, a declaration file, and nothing. */
  source(from: string, specifier: string): string | undefined
  /** Whether a source was found by a search: another file could take its place without being one of those that are known. */
  hasSearched(): boolean
  /** Whether a specifier leads to any file, or to an installed package: what that package exports, the bundler knows. */
  leads(from: string, specifier: string): boolean
  /** The files that tsconfig.json's `paths` or `baseUrl` let a specifier mean, absolute; none where no alias fits. */
  mapped(specifier: string): string[]
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
    const isNear = specifier.startsWith('.')
    const folder = path.dirname(from)
    const key = isNear ? path.join(folder, specifier) : `${folder}\0${specifier}`
    if (found.has(key)) return found.get(key)
    const known = isNear ? knownAt(key, isSource) : undefined
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

  const installed = new Map<string, boolean>()

  /** Whether a folder of that name lies in a node_modules that packages of the folder see. */
  function isInstalled(folder: string, name: string): boolean {
    const key = `${folder}\0${name}`
    const known = installed.get(key)
    if (known !== undefined) return known
    const types = name.startsWith('@') ? name.slice(1).replace('/', '__') : name
    const modules = path.join(folder, 'node_modules')
    const isHere =
      fs.existsSync(path.join(modules, name)) ||
      fs.existsSync(path.join(modules, '@types', types)) ||
      fs.existsSync(path.join(folder, '.pnp.cjs')) // Yarn keeps packages where only the bundler looks
    const parent = path.dirname(folder)
    const found = isHere || (parent !== folder && isInstalled(parent, name))
    installed.set(key, found)
    return found
  }

  function mapped(specifier: string): string[] {
    const { paths = {}, baseUrl, pathsBasePath } = options
    const base = baseUrl ?? (typeof pathsBasePath === 'string' ? pathsBasePath : root)
    const found = Object.entries(paths).flatMap(([pattern, targets]) => {
      const [before, after] = pattern.split('*') as [string, string?]
      if (after === undefined) return pattern === specifier ? targets.map((target) => path.resolve(base, target)) : []
      const isFitting =
        specifier.length >= before.length + after.length && specifier.startsWith(before) && specifier.endsWith(after)
      const matched = specifier.slice(before.length, specifier.length - after.length)
      return isFitting && pattern !== '*'
        ? targets.map((target) =>
            path.resolve(
              base,
              target.replace('*', () => matched),
            ),
          )
        : []
    })
    return found
  }

  return {
    options,
    source,
    mapped,
    hasSearched: () => hasSearched,
    leads(from, specifier) {
      // `node:fs`, `cloudflare:sockets`; `#x` is a name of the manifest's `imports`
      if (specifier === '' || /^[a-z][a-z0-9+.-]+:|^#[^/]/.test(specifier)) return true
      if (source(from, specifier) !== undefined) return true
      if (isRelative(specifier)) {
        if (fs.existsSync(path.resolve(path.dirname(from), specifier))) return true
      } else {
        if (isBuiltin(specifier)) return false
        if (isInstalled(path.dirname(from), packageNameOf(specifier))) return true
        const based = options.baseUrl === undefined ? [] : [path.resolve(options.baseUrl, specifier)]
        if ([...mapped(specifier), ...based].some((file) => fs.existsSync(file))) return true
      }
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
