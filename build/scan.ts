/** The rest of a file: decorators that stand elsewhere, imported names used as values, and what runs before any request. */
import { ts } from 'ts-morph'
import { decoratorAt, unwrapped } from './classes.ts'
import { hasModifier, type Reader } from './project.ts'

/** When a piece of code runs: as the module is loaded, as an instance of a class is built, or later. */
type When = 'module' | { className: string } | 'later'

export function scan({ tree, ...shared }: Reader): void {
  const reader: Reader = { tree, ...shared }
  const { file, at, written, readExpression } = reader
  const known = new Set(file.decorators.map(({ place }) => place.start))
  for (const statement of tree.statements) {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) visit(statement, 'module')
  }

  /** @param owner the class whose members these are. */
  function visit(node: ts.Node, when: When, owner?: string): void {
    switch (node.kind) {
      case ts.SyntaxKind.Decorator:
        visitDecorator(node as ts.Decorator, when)
        return
      case ts.SyntaxKind.Identifier:
        if (file.imports.has((node as ts.Identifier).text)) file.uses.push(readExpression(node as ts.Identifier))
        return
      case ts.SyntaxKind.PropertyAccessExpression:
        visitAccess(node as ts.PropertyAccessExpression, when)
        return
      case ts.SyntaxKind.InterfaceDeclaration:
      case ts.SyntaxKind.TypeAliasDeclaration:
        return
      case ts.SyntaxKind.CallExpression:
      case ts.SyntaxKind.NewExpression:
        visitCall(node as ts.CallExpression | ts.NewExpression, when)
        break
      case ts.SyntaxKind.TaggedTemplateExpression: {
        const { tag } = node as ts.TaggedTemplateExpression
        if (when !== 'later') note(tag, false, when, node)
        break
      }
    }
    if (ts.isTypeNode(node)) return
    const inner = whenInside(node, when, owner)
    const owned = ts.isClassDeclaration(node) ? node.name?.text : undefined
    // a name that is declared here is no use of another; `{ Get }` is
    const name = 'name' in node && !ts.isShorthandPropertyAssignment(node) ? node.name : undefined
    ts.forEachChild(node, (child) => {
      if (child !== name || ts.isObjectBindingPattern(child) || ts.isArrayBindingPattern(child))
        visit(child, inner, owned)
    })
  }

  function visitDecorator(node: ts.Decorator, when: When): void {
    if (!known.has(node.getStart(tree))) file.decorators.push(decoratorAt(reader, node, false))
    const call = unwrapped(node.expression)
    if (ts.isCallExpression(call)) for (const argument of call.arguments) visit(argument, when)
  }

  function visitAccess(node: ts.PropertyAccessExpression, when: When): void {
    const root = rootOf(node)
    if (!ts.isIdentifier(root)) visit(node.expression, when)
    else if (file.imports.has(root.text)) file.uses.push(readExpression(node))
  }

  function visitCall(node: ts.CallExpression | ts.NewExpression, when: When): void {
    const { expression: callee } = node
    const isNew = ts.isNewExpression(node)
    if (ts.isIdentifier(callee) && (callee.text === 'Function' || (callee.text === 'eval' && !isNew))) {
      const isOwn = file.declared.has(callee.text) || file.imports.has(callee.text)
      if (!isOwn) file.evals.push({ text: written(callee), place: at(callee) })
    }
    if (when !== 'later') note(callee, isNew, when, node)
  }

  function note(callee: ts.Expression, isNew: boolean, when: Exclude<When, 'later'>, node: ts.Node): void {
    const root = rootOf(callee)
    if (!ts.isIdentifier(root)) return
    const className = when === 'module' ? undefined : when.className
    file.earlyCalls.push({ callee: readExpression(callee), isNew, className, place: at(node) })
  }
}

function rootOf(node: ts.Expression): ts.Expression {
  return ts.isPropertyAccessExpression(node) ? rootOf(node.expression) : node
}

function whenInside(node: ts.Node, when: When, owner: string | undefined): When {
  if (ts.isConstructorDeclaration(node) || (ts.isPropertyDeclaration(node) && !isStatic(node))) {
    return when === 'module' && owner !== undefined ? { className: owner } : 'later'
  }
  return ts.isFunctionLike(node) ? 'later' : when
}

function isStatic(node: ts.Node): boolean {
  return hasModifier(node, ts.SyntaxKind.StaticKeyword)
}
