/** The rest of a file: decorators that stand elsewhere, imported names used as values, and what runs before any request. */
import type { ts as TS } from 'ts-morph'
import { decoratorAt, unwrapped } from './classes.ts'
import { ambientServices, sdkName } from './declaration.ts'
import { termsOf } from './expression.ts'
import type { Reader } from './project.ts'
import { hasModifier } from './syntax.ts'
import { ts } from './typescript.ts'

/** When a piece of code runs: as the module is loaded, as an instance of a class is built, or later. */
type When = 'module' | { className: string } | 'later'

export function scan({ tree, ...shared }: Reader): void {
  const reader: Reader = { tree, ...shared }
  const { file, at, written, readExpression } = reader
  const known = new Set(file.decorators.map(({ place }) => place.start))
  const isWorthReading = createFinder(reader, known)
  for (const statement of tree.statements) {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) visit(statement, 'module')
  }

  /** @param owner the class whose members these are. */
  function visit(node: TS.Node, when: When, owner?: string): void {
    if (ts.isFunctionLike(node) && !ts.isConstructorDeclaration(node) && !isWorthReading(node)) return
    switch (node.kind) {
      case ts.SyntaxKind.Decorator:
        visitDecorator(node as TS.Decorator, when)
        return
      case ts.SyntaxKind.Identifier:
        if (file.imports.has((node as TS.Identifier).text)) file.uses.push(readExpression(node as TS.Identifier))
        return
      case ts.SyntaxKind.PropertyAccessExpression:
        visitAccess(node as TS.PropertyAccessExpression, when)
        return
      case ts.SyntaxKind.InterfaceDeclaration:
      case ts.SyntaxKind.TypeAliasDeclaration:
        // the parser takes decorators there, where nothing is left at run time that could carry them
        for (const one of (node as TS.InterfaceDeclaration).modifiers ?? []) visit(one, when)
        return
      case ts.SyntaxKind.BinaryExpression: {
        const terms = termsOf(node as TS.BinaryExpression)
        if (terms.length <= 2) break
        for (const term of terms) visit(term, when)
        return
      }
      case ts.SyntaxKind.CallExpression:
      case ts.SyntaxKind.NewExpression:
        visitCall(node as TS.CallExpression | TS.NewExpression, when)
        break
      case ts.SyntaxKind.TaggedTemplateExpression: {
        const { tag } = node as TS.TaggedTemplateExpression
        if (when !== 'later') note(tag, false, when, node)
        break
      }
    }
    if (ts.isClassDeclaration(node)) {
      visitClass(node, when)
      return
    }
    if (ts.isTypeNode(node)) return
    const inner = whenInside(node, when, owner)
    // a name that is declared here is no use of another; `{ Get }` is
    const name = 'name' in node && !ts.isShorthandPropertyAssignment(node) ? node.name : undefined
    ts.forEachChild(node, (child) => {
      if (child !== name || ts.isObjectBindingPattern(child) || ts.isArrayBindingPattern(child)) visit(child, inner)
    })
  }

  /** Of a method that holds nothing of interest, not even the parameters are looked at. */
  function visitClass({ modifiers, heritageClauses, members, name }: TS.ClassDeclaration, when: When): void {
    for (const modifier of modifiers ?? []) if (ts.isDecorator(modifier)) visitDecorator(modifier, when)
    for (const clause of heritageClauses ?? []) visit(clause, when)
    for (const member of members) {
      const runsLater = ts.isMethodDeclaration(member) || ts.isAccessor(member)
      if (!runsLater || isWorthReading(member)) visit(member, when, name?.text)
    }
  }

  function visitDecorator(node: TS.Decorator, when: When): void {
    if (!known.has(node.getStart(tree))) file.decorators.push(decoratorAt(reader, node, false))
    if (!isWorthReading(node) && when === 'later') return
    const call = unwrapped(node.expression)
    const callee = ts.isCallExpression(call) ? call.expression : call
    // what is made some other way than by its name is not read, and must not be lost
    if (!ts.isIdentifier(callee) && !ts.isPropertyAccessExpression(callee)) visit(callee, when)
    if (ts.isCallExpression(call)) for (const argument of call.arguments) visit(argument, when)
  }

  function visitAccess(node: TS.PropertyAccessExpression, when: When): void {
    const root = rootOf(node)
    if (!ts.isIdentifier(root)) visit(node.expression, when)
    else if (file.imports.has(root.text)) file.uses.push(readExpression(node))
  }

  function visitCall(node: TS.CallExpression | TS.NewExpression, when: When): void {
    const { expression: callee } = node
    const isNew = ts.isNewExpression(node)
    if (ts.isIdentifier(callee) && (callee.text === 'Function' || (callee.text === 'eval' && !isNew))) {
      const isOwn = file.declared.has(callee.text) || file.imports.has(callee.text)
      if (!isOwn) file.evals.push({ text: written(callee), place: at(callee) })
    }
    const [specifier] = node.arguments ?? []
    const isImport = callee.kind === ts.SyntaxKind.ImportKeyword
    if (isImport && specifier && ts.isStringLiteral(specifier) && specifier.text === sdkName) {
      file.wholeImports.push({ text: written(node), place: at(node) })
    }
    if (when !== 'later') note(callee, isNew, when, node)
  }

  function note(callee: TS.Expression, isNew: boolean, when: Exclude<When, 'later'>, node: TS.Node): void {
    const root = rootOf(callee)
    if (!ts.isIdentifier(root)) return
    const className = when === 'module' ? undefined : when.className
    file.earlyCalls.push({ callee: readExpression(callee), isNew, className, place: at(node) })
  }
}

/**
 * Most of a file are bodies of functions, and in most of them there is nothing to find: no decorator, no `eval`, no
 * imported name. @returns whether a node may hold something, from one look at the text.
 */
function createFinder({ tree, file }: Reader, known: ReadonlySet<number>): (node: TS.Node) => boolean {
  const { text } = tree
  const places: number[] = []
  const find = (word: string) => {
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
      if (!known.has(at) && !known.has(at - 1)) places.push(at) // a decorator that was read already, and its name
    }
  }
  for (const word of ['@', 'eval', 'Function', sdkName]) find(word)
  for (const [name, origin] of file.imports) if (!(origin.from === sdkName && harmless.has(origin.name))) find(name)
  places.sort((a, b) => a - b)
  return ({ pos, end }) => {
    let low = 0
    let high = places.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (places[middle]! < pos) low = middle + 1
      else high = middle
    }
    return low < places.length && places[low]! < end
  }
}

/** What of the SDK may be used anywhere in a function. */
const harmless: ReadonlySet<string> = new Set([...ambientServices, 'HttpError', 'OutsideRequest'])

function rootOf(node: TS.Expression): TS.Expression {
  return ts.isPropertyAccessExpression(node) ? rootOf(node.expression) : node
}

function whenInside(node: TS.Node, when: When, owner: string | undefined): When {
  if (ts.isConstructorDeclaration(node) || (ts.isPropertyDeclaration(node) && !isStatic(node))) {
    return when === 'module' && owner !== undefined ? { className: owner } : 'later'
  }
  return ts.isFunctionLike(node) ? 'later' : when
}

function isStatic(node: TS.Node): boolean {
  return hasModifier(node, ts.SyntaxKind.StaticKeyword)
}
