/** Strict JSON of the declared files, with the place of each fault (contract 1.3). */
import * as fs from 'node:fs'
import path from 'node:path'
import { evaluate, parse } from '@humanwhocodes/momoa'
import { InvalidDeclaration } from '../../src/wire/project.ts'
import { Failure } from './failure.ts'
import { workingDirectory } from './working-directory.ts'

/** Deepest nesting of a declared file: the parser recurses, and a deeper document could exhaust the stack. */
const deepestJson = 64

/** Reads strict JSON. @throws Failure with the place of a duplicate key, a comment or a trailing comma. */
export function readDeclared<T>(file: string, read: (json: unknown) => T): T {
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
