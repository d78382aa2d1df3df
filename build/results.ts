/** What a method gives back, as far as its text tells: its declared type, or else a value that it certainly returns. */
import type { ts as TS } from 'ts-morph'
import type { Span } from './declaration.ts'
import type { Reader } from './project.ts'
import { namesIn } from './syntax.ts'
import { ts } from './typescript.ts'

export interface ResultSyntax {
  place: Span
  /** As written. */
  text: string
  /** Every name in the declared type; absent where none is declared, and the text is a returned value. */
  typeNames: string[] | undefined
}

/** @returns `undefined` where the text does not tell: what a call or a variable gives is for the type checker to know. */
export function readResult({ at, written }: Reader, method: TS.MethodDeclaration): ResultSyntax | undefined {
  const { type, body } = method
  if (type) return { place: at(type), text: `\`${written(type)}\``, typeNames: namesIn(type) }
  const value = body && returned(body).find(isValue)
  return value && { place: at(value), text: 'a value', typeNames: undefined }
}

/** The expressions after `return`, of this function and of none inside. */
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

/** Literals, and what is made of operators: neither `undefined` nor a `Response`, whatever is in them. */
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
