/** Helpers that several readers of syntax share. */
import type { ts as TS } from 'ts-morph'
import { ts } from './typescript.ts'

/** Every name in a type, keywords included. */
export function namesIn(type: TS.Node): string[] {
  const names: string[] = []
  const visit = (node: TS.Node): void => {
    // The parts of an indexed access or of a template literal type do not name the type itself.
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
