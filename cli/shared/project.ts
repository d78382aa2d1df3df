/** The project that a command is about, and its two declared files (contract 1.3, 1.7). */
import * as fs from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { evaluate, parse } from '@humanwhocodes/momoa'
import { type DeclaredRole, InvalidDeclaration, type Project, readProject, readRoles } from '../../src/wire/project.ts'
import { Failure } from './failure.ts'

export interface LocatedProject {
  /** Absolute. */
  root: string
  project: Project
  roles: DeclaredRole[]
}

const marker = 'stack/project.json'

/** Deepest nesting of a declared file: the parser recurses, and a deeper document could exhaust the stack. */
const deepestJson = 64

/** The folder in which the person typed the command: `npm run` itself moves to the root of the package. */
export function workingDirectory(): string {
  return process.env['INIT_CWD'] ?? process.cwd()
}

/**
 * @param named the value of `--project`. The default is the nearest folder upwards from the working directory.
 * @throws Failure with file, line and column of a declared file that is not valid.
 */
export function locateProject(named: string | undefined): LocatedProject {
  const root = named === undefined ? nearestProject(workingDirectory()) : resolveNamed(named, workingDirectory())
  // esbuild never answers for a path with a double quote.
  if (root.includes('"'))
    throw new Failure('usage', `the path ${root} holds a double quote, which the bundler cannot take`)
  const rolesFile = path.join(root, 'stack/roles.json')
  return {
    root: fs.realpathSync(root), // watchers and bundlers name files by their real paths, without symbolic links
    project: readDeclared(path.join(root, marker), readProject),
    roles: fs.existsSync(rolesFile) ? readDeclared(rolesFile, readRoles) : [],
  }
}

/** Tries the folder of the person, and the package's root, relative to which the scripts of `npm` name a project. */
function resolveNamed(named: string, standing: string): string {
  const candidates = [path.resolve(standing, named), path.resolve(named)]
  const root = candidates.find((candidate) => fs.existsSync(path.join(candidate, marker)))
  if (!root) throw new Failure('usage', `${candidates[0]} is no project: it has no ${marker}`)
  return root
}

function nearestProject(from: string): string {
  for (let folder = from; ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, marker))) return folder
    if (path.dirname(folder) === folder) {
      throw new Failure(
        'usage',
        `no ${marker} here or in a folder above: stand in a project, or name one with --project`,
      )
    }
  }
}

/** Reads strict JSON. @throws Failure with the place of a duplicate key, a comment or a trailing comma. */
function readDeclared<T>(file: string, read: (json: unknown) => T): T {
  const shown = path.relative(workingDirectory(), file) || file
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure('usage', `${shown} cannot be read: ${(error as Error).message}`)
  }
  if (depthOf(text) > deepestJson) throw new Failure('usage', `${shown}: nested deeper than ${deepestJson} levels`)
  let tree: ReturnType<typeof parse>
  try {
    tree = parse(text, { mode: 'json' })
  } catch (error) {
    throw new Failure('usage', `${shown} is not valid JSON: ${(error as Error).message}`)
  }
  const places = new Map<string, { line: number; column: number }>()
  collectPlaces(tree.body, [], places, shown)
  try {
    return read(evaluate(tree))
  } catch (error) {
    if (!(error instanceof InvalidDeclaration)) throw error
    const at = nearestPlace(places, error.path)
    throw new Failure('usage', `${shown}:${at.line}:${at.column} ${error.message}`)
  }
}

type Value = ReturnType<typeof parse>['body']

function collectPlaces(
  value: Value,
  at: (string | number)[],
  places: Map<string, { line: number; column: number }>,
  file: string,
): void {
  const key = JSON.stringify(at)
  if (!places.has(key)) places.set(key, value.loc.start)
  if (value.type === 'Array') {
    value.elements.forEach((element, index) => {
      collectPlaces(element.value, [...at, index], places, file)
    })
  }
  if (value.type !== 'Object') return
  for (const { name, value: inner } of value.members) {
    const text = name.type === 'String' ? name.value : name.name
    const path = [...at, text]
    const { line, column } = name.loc.start
    if (places.has(JSON.stringify(path)))
      throw new Failure('usage', `${file}:${line}:${column} duplicate key "${text}"`)
    places.set(JSON.stringify(path), { line, column })
    collectPlaces(inner, path, places, file)
  }
}

/** @returns the place of the innermost value on the path that exists: a missing key has the place of its object. */
function nearestPlace(places: Map<string, { line: number; column: number }>, path: readonly (string | number)[]) {
  for (let length = path.length; length >= 0; length--) {
    const place = places.get(JSON.stringify(path.slice(0, length)))
    if (place) return place
  }
  return { line: 1, column: 1 }
}

/** Counts the depth before the recursive parser runs. Brackets in strings count too, which can only overestimate. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (const character of text) {
    if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth)
    else if (character === '}' || character === ']') depth--
  }
  return deepest
}

/** @returns the bindings of `.dev.vars`, which the local stack gives the backend worker (contract 1.6). */
export function devVars(root: string): Record<string, string> {
  const file = path.join(root, '.dev.vars')
  return fs.existsSync(file) ? (parseEnv(fs.readFileSync(file, 'utf8')) as Record<string, string>) : {}
}
