/** The project that a command is about, and its two declared files (contract 1.3, 1.7). */
import * as fs from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { evaluate, parse } from '@humanwhocodes/momoa'
import { type DeclaredRole, InvalidDeclaration, type Project, readProject, readRoles } from '../src/wire/project.ts'
import { projectPaths } from '../src/wire/project-paths.ts'
import { Failure } from './failure.ts'

export interface LocatedProject {
  /** Absolute. */
  root: string
  project: Project
  roles: DeclaredRole[]
}

const deepestJson = 64

/**
 * @param named `--project`; absent: the nearest folder upwards from where the person stands.
 * @throws Failure naming file, line and column of what is wrong.
 */
export function locateProject(named: string | undefined): LocatedProject {
  const standing = process.env['INIT_CWD'] ?? process.cwd() // npm run moves to the package's root
  const root = named === undefined ? nearestProject(standing) : resolveNamed(named, standing)
  // esbuild waits forever for a path with one
  if (root.includes('"'))
    throw new Failure('usage', `the path ${root} holds a double quote, which the bundler cannot take`)
  const rolesFile = path.join(root, projectPaths.roles)
  return {
    root: fs.realpathSync(root), // as watchers and bundlers name files: a project may be reached through a link
    project: readDeclared(path.join(root, projectPaths.project), readProject),
    roles: fs.existsSync(rolesFile) ? readDeclared(rolesFile, readRoles) : [],
  }
}

/** `npm start` names it relative to the package, a person relative to where they stand. */
function resolveNamed(named: string, standing: string): string {
  const candidates = [path.resolve(standing, named), path.resolve(named)]
  const root = candidates.find((candidate) => fs.existsSync(path.join(candidate, projectPaths.project)))
  if (!root) throw new Failure('usage', `${candidates[0]} is no project: it has no ${projectPaths.project}`)
  return root
}

function nearestProject(from: string): string {
  for (let folder = from; ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, projectPaths.project))) return folder
    if (path.dirname(folder) === folder) {
      throw new Failure(
        'usage',
        `no ${projectPaths.project} here or in a folder above: stand in a project, or name one with --project`,
      )
    }
  }
}

/** Strict JSON: a duplicate key, a comment or a trailing comma is refused where it stands. */
function readDeclared<T>(file: string, read: (json: unknown) => T): T {
  const shown = path.relative(process.env['INIT_CWD'] ?? process.cwd(), file) || file
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

/** A key that is missing has no place: its object has. */
function nearestPlace(places: Map<string, { line: number; column: number }>, path: readonly (string | number)[]) {
  for (let length = path.length; length >= 0; length--) {
    const place = places.get(JSON.stringify(path.slice(0, length)))
    if (place) return place
  }
  return { line: 1, column: 1 }
}

/** The parser recurses: how deep is counted before. Brackets in strings count too, which only errs on the safe side. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (const character of text) {
    if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth)
    else if (character === '}' || character === ']') depth--
  }
  return deepest
}

/** The project's own bindings while it is developed (contract 1.6). */
export function devVars(root: string): Record<string, string> {
  const file = path.join(root, projectPaths.devVars)
  return fs.existsSync(file) ? (parseEnv(fs.readFileSync(file, 'utf8')) as Record<string, string>) : {}
}
