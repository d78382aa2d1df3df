/** Reads expressions into plain data: how a value is written. values.ts and evaluate.ts find out what it is. */
import type { ts as TS } from 'ts-morph'
import type { Span } from './declaration.ts'
import { ts } from './typescript.ts'

/** An expression as it is written. It is wrapped if it stands inside parentheses, a cast or `Object.freeze`. */
export type Expression = Written & { isWrapped?: true }

type Written =
  | { kind: 'literal'; value: string | number | boolean | null | undefined; place: Span }
  | { kind: 'template'; parts: Expression[]; text: string; place: Span }
  | { kind: 'sum'; terms: Expression[]; text: string; place: Span }
  | { kind: 'list'; items: Expression[]; place: Span }
  | { kind: 'record'; properties: Property[]; place: Span }
  | { kind: 'spread'; of: Expression; place: Span }
  | { kind: 'name'; name: string; place: Span }
  | { kind: 'member'; of: Expression; property: string; text: string; place: Span }
  | { kind: 'other'; text: string; place: Span }

/** `key` is undefined for a spread, a computed key and a getter: their names are unknown at build. */
export interface Property {
  key: string | undefined
  keyPlace: Span
  value: Expression
}

/** @param at gives the place of a node. @param written gives the text of a node, shortened. */
export function createExpressionReader(
  at: (node: TS.Node) => Span,
  written: (node: TS.Node) => string,
): (node: TS.Expression) => Expression {
  return readExpression

  function readExpression(node: TS.Expression): Expression {
    const place = at(node)
    if (
      ts.isParenthesizedExpression(node) ||
      ts.isAsExpression(node) ||
      ts.isTypeAssertionExpression(node) ||
      ts.isSatisfiesExpression(node) ||
      ts.isNonNullExpression(node)
    ) {
      return { ...readExpression(node.expression), isWrapped: true }
    }
    const frozen = frozenIn(node)
    if (frozen) return { ...readExpression(frozen), isWrapped: true }
    if (ts.isStringLiteralLike(node)) return { kind: 'literal', value: node.text, place }
    if (ts.isNumericLiteral(node)) return { kind: 'literal', value: Number(node.text), place }
    if (
      ts.isPrefixUnaryExpression(node) &&
      node.operator === ts.SyntaxKind.MinusToken &&
      ts.isNumericLiteral(node.operand)
    ) {
      return { kind: 'literal', value: -Number(node.operand.text), place }
    }
    if (node.kind === ts.SyntaxKind.TrueKeyword) return { kind: 'literal', value: true, place }
    if (node.kind === ts.SyntaxKind.FalseKeyword) return { kind: 'literal', value: false, place }
    if (node.kind === ts.SyntaxKind.NullKeyword) return { kind: 'literal', value: null, place }
    if (ts.isIdentifier(node)) {
      return node.text === 'undefined'
        ? { kind: 'literal', value: undefined, place }
        : { kind: 'name', name: node.text, place }
    }
    if (ts.isPropertyAccessExpression(node) && !node.questionDotToken && ts.isIdentifier(node.name)) {
      const of = readExpression(node.expression)
      return { kind: 'member', of, property: node.name.text, text: written(node), place }
    }
    if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
      const of = readExpression(node.expression)
      return { kind: 'member', of, property: node.argumentExpression.text, text: written(node), place }
    }
    if (ts.isTemplateExpression(node)) {
      const parts: Expression[] = [{ kind: 'literal', value: node.head.text, place: at(node.head) }]
      for (const span of node.templateSpans) {
        parts.push(readExpression(span.expression))
        parts.push({ kind: 'literal', value: span.literal.text, place: at(span.literal) })
      }
      return { kind: 'template', parts, text: written(node), place }
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
      return { kind: 'sum', terms: termsOf(node).map(readExpression), text: written(node), place }
    }
    if (ts.isSpreadElement(node)) return { kind: 'spread', of: readExpression(node.expression), place }
    if (ts.isArrayLiteralExpression(node)) return { kind: 'list', items: node.elements.map(readExpression), place }
    if (ts.isObjectLiteralExpression(node))
      return { kind: 'record', properties: node.properties.map(readProperty), place }
    return { kind: 'other', text: written(node), place }
  }

  function readProperty(node: TS.ObjectLiteralElementLike): Property {
    if (ts.isSpreadAssignment(node)) {
      const value: Expression = { kind: 'spread', of: readExpression(node.expression), place: at(node) }
      return { key: undefined, keyPlace: at(node), value }
    }
    const key = propertyName(node.name)
    if (ts.isPropertyAssignment(node)) return { key, keyPlace: at(node.name), value: readExpression(node.initializer) }
    if (ts.isShorthandPropertyAssignment(node)) {
      return { key, keyPlace: at(node.name), value: { kind: 'name', name: node.name.text, place: at(node) } }
    }
    return { key, keyPlace: at(node.name), value: { kind: 'other', text: written(node), place: at(node) } }
  }
}

/** The name of a property or member, where it is known without running code. */
export function propertyName(name: TS.PropertyName): string | undefined {
  if (ts.isIdentifier(name) || ts.isStringLiteralLike(name) || ts.isNumericLiteral(name)) return name.text
  if (ts.isPrivateIdentifier(name)) return name.text
  if (ts.isComputedPropertyName(name) && ts.isStringLiteralLike(name.expression)) return name.expression.text
  return undefined
}

/** The argument of `Object.freeze(…)`. */
function frozenIn(node: TS.Expression): TS.Expression | undefined {
  if (!ts.isCallExpression(node) || node.arguments.length !== 1) return undefined
  const { expression: callee } = node
  const isFreeze = ts.isPropertyAccessExpression(callee) && callee.name.text === 'freeze'
  return isFreeze && ts.isIdentifier(callee.expression) && callee.expression.text === 'Object'
    ? node.arguments[0]
    : undefined
}

/** The terms of `a + b + c`. The loop avoids a recursion as deep as a long sum is long. */
export function termsOf(node: TS.Expression): TS.Expression[] {
  const terms: TS.Expression[] = []
  let rest = node
  while (ts.isBinaryExpression(rest) && rest.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    terms.push(rest.right)
    rest = rest.left
  }
  return [rest, ...terms.reverse()]
}
