/** `.stack/selection.json`: the environment that `stack env use` chose for this checkout (contract 10.3). */
import * as fs from 'node:fs'
import path from 'node:path'
import { writeWhole } from '../../build/emit/write.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'

/** @returns `undefined` where nothing was chosen. A file that is not valid counts as no choice. */
export function readSelection(root: string): string | undefined {
  try {
    const { environment } = JSON.parse(fs.readFileSync(fileIn(root), 'utf8')) as { environment?: unknown }
    return typeof environment === 'string' ? environment : undefined
  } catch {
    return undefined
  }
}

/** @param environment `undefined` forgets the choice. */
export function writeSelection(root: string, environment: string | undefined): void {
  if (environment === undefined) fs.rmSync(fileIn(root), { force: true })
  else writeWhole(fileIn(root), `${JSON.stringify({ environment }, undefined, 2)}\n`)
}

function fileIn(root: string): string {
  return path.join(root, projectPaths.selection)
}
