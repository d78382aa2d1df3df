/** Small questions about syntax that several readers ask. */
import type { ts as TS } from 'ts-morph'
import { ts } from './typescript.ts'

/** Every name in a type, keywords included. */
export function namesIn(type: TS.Node): string[] {
  const names: string[] = []
  const visit = (node: TS.Node): void => {
    // what an index picks, and what a template is made of, says nothing of the whole
    if (ts.isIndexedAccessTypeNode(node) || ts.isTemplateLiteralTypeNode(node)) return
    if (ts.isIdentifier(node)) names.push(node.text)
    else if (ts.isLiteralTypeNode(node) && node.literal.kind === ts.SyntaxKind.NullKeyword) names.push('null')
    else if (node.kind >= ts.SyntaxKind.FirstKeyword && node.kind <= ts.SyntaxKind.LastKeyword) {
      names.push(ts.tokenToString(node.kind) ?? '')
    } else ts.forEachChild(node, visit)
  }
  visit(type)
  return names
}

export function hasModifier(node: TS.Node, kind: TS.SyntaxKind): boolean {
  const { modifiers } = node as { modifiers?: readonly TS.Node[] }
  return modifiers?.some((modifier) => modifier.kind === kind) ?? false
}

/** The index of the last line that begins at the offset or before it. */
export function lineAt(lineStarts: readonly number[], offset: number): number {
  let low = 0
  let high = lineStarts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (lineStarts[middle]! <= offset) low = middle
    else high = middle - 1
  }
  return low
}
