/** Strict JSON of the declared files, with the place of each fault (contract 1.3). */
import * as fs from 'node:fs'
import path from 'node:path'
import { InvalidDeclaration } from '../../src/wire/project.ts'
import { readStrictJson } from '../../src/wire/strict-json.ts'
import { Failure } from './failure.ts'
import { workingDirectory } from './working-directory.ts'

/** Reads strict JSON. @throws Failure with the place of a duplicate key, a comment, a trailing comma, or of what `read` refuses. */
export function readDeclared<T>(file: string, read: (json: unknown) => T): T {
  const shown = path.relative(workingDirectory(), file) || file
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure('usage', `${shown} cannot be read: ${(error as Error).message}`)
  }
  const { value, faults, placeOf } = readStrictJson(text)
  const [fault] = faults
  if (fault) {
    const { kind, reason, line, column } = fault
    throw new Failure('usage', `${shown}:${line}:${column} ${kind === 'syntax' ? 'is not valid JSON: ' : ''}${reason}`)
  }
  try {
    return read(value)
  } catch (error) {
    if (!(error instanceof InvalidDeclaration)) throw error
    const { line, column } = placeOf(error.path)
    throw new Failure('usage', `${shown}:${line}:${column} ${error.message}`)
  }
}
