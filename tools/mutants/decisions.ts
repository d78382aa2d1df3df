/** Counts what decides in a file: conditions and comparisons of TypeScript, grants and conditions of SQL. */
import * as fs from 'node:fs'
import path from 'node:path'
import { ts } from 'ts-morph'
import { trackedFiles } from '../tracked.ts'

/** Files whose text decides what a caller may do, learns or keeps, and what the build refuses. */
const deciding = ['runtime/**/*.ts', 'runtime/**/*.sql', 'src/auth/**/*.ts', 'src/auth/**/*.sql', 'build/refuse/*.ts']
const decidingFiles = [
  'build/gates.ts',
  'build/emit/check-bundle.ts',
  'src/wire/permissions.ts',
  'src/wire/loopback.ts',
]

export function decidingFilesOf(root: string): string[] {
  return trackedFiles(root, ...deciding.map((pattern) => `:(glob)${pattern}`), ...decidingFiles).filter(
    (file) => !file.endsWith('.d.ts'),
  )
}

/** @returns the number of conditions, comparisons and grants. */
export function decisionsIn(root: string, file: string): number {
  const text = fs.readFileSync(path.join(root, file), 'utf8')
  return file.endsWith('.sql') ? inSql(text) : inScript(text)
}

const comparing: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
])

function inScript(text: string): number {
  let count = 0
  const visit = (node: ts.Node): void => {
    if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) count++
    if (ts.isBinaryExpression(node) && comparing.has(node.operatorToken.kind)) count++
    // SQL stands in templates
    if (ts.isTemplateLiteralToken(node) || ts.isTemplateExpression(node)) {
      if (ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node))
        count += inSql(node.getText(source))
    }
    ts.forEachChild(node, visit)
  }
  const source = ts.createSourceFile('decisions.ts', text, ts.ScriptTarget.Latest, true)
  visit(source)
  return count
}

/** Words that decide in SQL. Comments are not read. */
const sqlWords = /\b(?:grant|revoke|policy|security definer|for update|where|having|and|check|references|when|if)\b/gi

function inSql(text: string): number {
  return text.replaceAll(/--[^\n]*/g, '').match(sqlWords)?.length ?? 0
}
