/** Checks the shape of functions: those that a reader cannot see at once are named. */
import * as fs from 'node:fs'
import path from 'node:path'
import { ts } from 'ts-morph'
import { trackedFiles } from './tracked.ts'

/** Largest number of lines of a function: one screen of an editor and a half. CONTRIBUTING.md states it. */
const functionLines = 80

/** Tests are lists of cases, and generators print long texts: neither has a shape to keep. */
const isExempt = (file: string) => file.startsWith('test/') || /\/(?:generate|client-types|routes-200)\.ts$/.test(file)

/** @returns `file:line: the function and its length` for each function that is too long. */
export function longFunctions(root: string): string[] {
  return trackedFiles(root, '*.ts')
    .filter((file) => !isExempt(file))
    .flatMap((file) => {
      const source = ts.createSourceFile(
        file,
        fs.readFileSync(path.join(root, file), 'utf8'),
        ts.ScriptTarget.Latest,
        true,
      )
      const found: string[] = []
      const visit = (node: ts.Node): void => {
        if (ts.isFunctionLike(node) && 'body' in node && node.body) {
          const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line
          const lines = source.getLineAndCharacterOfPosition(node.end).line - first + 1
          const name =
            node.name?.getText(source) ??
            (ts.isVariableDeclaration(node.parent) ? node.parent.name.getText(source) : 'a function')
          if (lines > functionLines) found.push(`${file}:${first + 1}: ${name} has ${lines} lines`)
        }
        ts.forEachChild(node, visit)
      }
      visit(source)
      return found
    })
}
