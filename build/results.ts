/** Reads the result of a method from its text: the declared type, or else a value that the method certainly returns. */
import type { ts as TS } from 'ts-morph'
import type { Reader, ResultSyntax } from './source-file.ts'
import { namesIn } from './syntax.ts'
import { ts } from './typescript.ts'

/** @returns `undefined` where the text does not tell. Only the type checker knows the value of a call or a variable. */
export function readResult({ at, written }: Reader, method: TS.MethodDeclaration): ResultSyntax | undefined {
  const { type, body } = method
  if (type) return { place: at(type), text: `\`${written(type)}\``, typeNames: namesIn(type) }
  const value = body && returned(body).find(isValue)
  return value && { place: at(value), text: 'a value', typeNames: undefined }
}

/** The expressions after `return` in this function. Functions inside it are left out. */
function returned(body: TS.Node): TS.Expression[] {
  const found: TS.Expression[] = []
  const visit = (node: TS.Node): void => {
    if (ts.isFunctionLike(node) || ts.isClassLike(node)) return
    if (ts.isReturnStatement(node)) {
      if (node.expression) found.push(node.expression)
    } else ts.forEachChild(node, visit)
  }
  ts.forEachChild(body, visit)
  return found
}

/** Literals, and conditionals that may give one. Such a value is neither `undefined` nor a `Response`. */
function isValue(expression: TS.Expression): boolean {
  if (ts.isParenthesizedExpression(expression) || ts.isAwaitExpression(expression))
    return isValue(expression.expression)
  if (ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression)) return isValue(expression.expression)
  if (ts.isConditionalExpression(expression)) return isValue(expression.whenTrue) || isValue(expression.whenFalse)
  return (
    ts.isObjectLiteralExpression(expression) ||
    ts.isArrayLiteralExpression(expression) ||
    ts.isLiteralExpression(expression) ||
    ts.isTemplateExpression(expression) ||
    expression.kind === ts.SyntaxKind.TrueKeyword ||
    expression.kind === ts.SyntaxKind.FalseKeyword
  )
}
