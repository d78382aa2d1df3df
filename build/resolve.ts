/** Resolves imports by TypeScript's rules, with the `paths` of the project's tsconfig.json. */
import * as fs from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import type { ts as TS } from 'ts-morph'
import { isRelative, packageNameOf } from './specifiers.ts'
import { compilerOptions } from './tsconfig.ts'
import { ts } from './typescript.ts'

/** A resolver caches what it finds. After a file came or went, a new one is needed. */
export class Resolver {
  readonly options: TS.CompilerOptions
  readonly #root: string
  readonly #isSource: (absolute: string) => boolean
  readonly #cache: TS.ModuleResolutionCache
  readonly #sources = new Map<string, string | undefined>()
  /** Folder and package name → whether the package is installed for that folder. */
  readonly #installed = new Map<string, boolean>()
  #hasSearched = false

  /** @param root absolute. @param isSource tells of an absolute path whether a source is known there, without a look at the disk. */
  constructor(root: string, isSource: (absolute: string) => boolean) {
    this.#root = root
    this.#isSource = isSource
    this.options = compilerOptions(root)
    this.#cache = ts.createModuleResolutionCache(root, (name) => name, this.options)
  }

  /** Absolute path of the source that a specifier leads to. `undefined` for packages, declaration files and dead ends. */
  source(from: string, specifier: string): string | undefined {
    const isNear = specifier.startsWith('.')
    const folder = path.dirname(from)
    const key = isNear ? path.join(folder, specifier) : `${folder}\0${specifier}`
    if (this.#sources.has(key)) return this.#sources.get(key)
    const known = isNear ? knownAt(key, this.#isSource) : undefined
    const resolved = known ?? this.#search(from, specifier)
    this.#hasSearched ||= known === undefined && resolved !== undefined
    this.#sources.set(key, resolved)
    return resolved
  }

  /** A source was found by a search on the disk. A file that no build has read could come and take its place. */
  hasSearched(): boolean {
    return this.#hasSearched
  }

  /** Whether a specifier leads to a file or to an installed package. The package's exports are left to the bundler. */
  leads(from: string, specifier: string): boolean {
    // `node:fs` and `cloudflare:sockets` belong to the platform. `#x` is a name of package.json's `imports`.
    if (specifier === '' || /^[a-z][a-z0-9+.-]+:|^#[^/]/.test(specifier)) return true
    if (this.source(from, specifier) !== undefined) return true
    if (isRelative(specifier)) {
      if (fs.existsSync(path.resolve(path.dirname(from), specifier))) return true
    } else {
      if (isBuiltin(specifier)) return false
      if (this.#isInstalled(path.dirname(from), packageNameOf(specifier))) return true
      const { baseUrl } = this.options
      const based = baseUrl === undefined ? [] : [path.resolve(baseUrl, specifier)]
      if ([...this.mapped(specifier), ...based].some((file) => fs.existsSync(file))) return true
    }
    return ts.resolveModuleName(specifier, from, this.options, ts.sys, this.#cache).resolvedModule !== undefined
  }

  /** Absolute paths that an alias of tsconfig.json's `paths` gives for a specifier. Empty where no alias matches. */
  mapped(specifier: string): string[] {
    const { paths = {}, baseUrl, pathsBasePath } = this.options
    const base = baseUrl ?? (typeof pathsBasePath === 'string' ? pathsBasePath : this.#root)
    return Object.entries(paths).flatMap(([pattern, targets]) => {
      const matched = matchOf(pattern, specifier)
      return matched === undefined
        ? []
        : targets.map((target) =>
            path.resolve(
              base,
              target.replace('*', () => matched),
            ),
          )
    })
  }

  #search(from: string, specifier: string): string | undefined {
    const { resolvedModule } = ts.resolveModuleName(specifier, from, this.options, ts.sys, this.#cache)
    const file = resolvedModule?.resolvedFileName
    // Only the path from the root counts, because the project itself may lie below a node_modules.
    if (!file || path.relative(this.#root, file).split(path.sep).includes('node_modules')) return undefined
    return /(?<!\.d)\.[cm]?tsx?$/.test(file) ? path.normalize(file) : undefined
  }

  /** Whether a node_modules of the folder, or of a folder above, contains the package or its types. */
  #isInstalled(folder: string, name: string): boolean {
    const key = `${folder}\0${name}`
    const known = this.#installed.get(key)
    if (known !== undefined) return known
    const types = name.startsWith('@') ? name.slice(1).replace('/', '__') : name
    const modules = path.join(folder, 'node_modules')
    const isHere =
      fs.existsSync(path.join(modules, name)) ||
      fs.existsSync(path.join(modules, '@types', types)) ||
      fs.existsSync(path.join(folder, '.pnp.cjs')) // With Yarn's Plug'n'Play only the bundler can tell.
    const parent = path.dirname(folder)
    const found = isHere || (parent !== folder && this.#isInstalled(parent, name))
    this.#installed.set(key, found)
    return found
  }
}

/** The text that `*` of a pattern stands for. The catch-all pattern `*` is no alias. */
function matchOf(pattern: string, specifier: string): string | undefined {
  const [before, after] = pattern.split('*') as [string, string?]
  if (after === undefined) return pattern === specifier ? '' : undefined
  const isMatch =
    specifier.length >= before.length + after.length && specifier.startsWith(before) && specifier.endsWith(after)
  return isMatch && pattern !== '*' ? specifier.slice(before.length, specifier.length - after.length) : undefined
}

/** Tries the candidates in TypeScript's order. */
function knownAt(target: string, isSource: (absolute: string) => boolean): string | undefined {
  const stem = target.replace(/\.jsx?$/, '')
  const candidates = [target, `${stem}.ts`, `${stem}.tsx`]
  return candidates.find(
    (candidate) => /\.tsx?$/.test(candidate) && !candidate.endsWith('.d.ts') && isSource(candidate),
  )
}
