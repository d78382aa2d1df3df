/** Scans a file for decorators outside declarations, for imported names used as values, and for code that runs before any request. */
import type { ts as TS } from 'ts-morph'
import { decoratorAt, unwrapped } from './classes.ts'
import { ambientServices, sdkName } from './declaration.ts'
import { termsOf } from './expression.ts'
import type { Reader } from './source-file.ts'
import { hasModifier } from './syntax.ts'
import { ts } from './typescript.ts'

/** When code runs: while the module is loaded, while an instance of a class is built, or later. */
type When = 'module' | { className: string } | 'later'

/** Runs after the classes of the file were read: their decorators are known already. */
export function scan(reader: Reader): void {
  const scanner = new Scanner(reader)
  for (const statement of reader.tree.statements) {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) scanner.visit(statement, 'module')
  }
}

class Scanner {
  readonly #reader: Reader
  /** Offsets of the decorators that were read with their classes. */
  readonly #known: ReadonlySet<number>
  readonly #isWorthReading: (node: TS.Node) => boolean

  constructor(reader: Reader) {
    this.#reader = reader
    this.#known = new Set(reader.file.decorators.map(({ place }) => place.start))
    this.#isWorthReading = createFinder(reader, this.#known)
  }

  /** @param owner name of the class whose member the node is. */
  visit(node: TS.Node, when: When, owner?: string): void {
    if (ts.isFunctionLike(node) && !ts.isConstructorDeclaration(node) && !this.#isWorthReading(node)) return
    if (this.#visitWhole(node, when)) return
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) this.#noteCall(node, when)
    else if (ts.isTaggedTemplateExpression(node) && when !== 'later') this.#noteEarlyCall(node.tag, false, when, node)
    if (ts.isTypeNode(node)) return
    const inner = whenInside(node, when, owner)
    // The name of a declaration is no use of an import. The shorthand property `{ Get }` is one.
    const name = 'name' in node && !ts.isShorthandPropertyAssignment(node) ? node.name : undefined
    ts.forEachChild(node, (child) => {
      if (child !== name || ts.isObjectBindingPattern(child) || ts.isArrayBindingPattern(child))
        this.visit(child, inner)
    })
  }

  /** @returns whether the node was handled with all that it contains. */
  #visitWhole(node: TS.Node, when: When): boolean {
    const { file, readExpression } = this.#reader
    if (ts.isDecorator(node)) this.#visitDecorator(node, when)
    else if (ts.isClassDeclaration(node)) this.#visitClass(node, when)
    else if (ts.isPropertyAccessExpression(node)) this.#visitAccess(node, when)
    else if (ts.isIdentifier(node)) {
      if (file.imports.has(node.text)) file.uses.push(readExpression(node))
    } else if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
      // The parser accepts decorators on types, which do not exist at run time.
      for (const modifier of node.modifiers ?? []) this.visit(modifier, when)
    } else if (ts.isBinaryExpression(node)) {
      const terms = termsOf(node)
      if (terms.length <= 2) return false
      for (const term of terms) this.visit(term, when)
    } else return false
    return true
  }

  /** Skips the parameters, too, of a method that contains nothing of interest. */
  #visitClass({ modifiers, heritageClauses, members, name }: TS.ClassDeclaration, when: When): void {
    for (const modifier of modifiers ?? []) if (ts.isDecorator(modifier)) this.#visitDecorator(modifier, when)
    for (const clause of heritageClauses ?? []) this.visit(clause, when)
    for (const member of members) {
      const runsLater = ts.isMethodDeclaration(member) || ts.isAccessor(member)
      if (!runsLater || this.#isWorthReading(member)) this.visit(member, when, name?.text)
    }
  }

  #visitDecorator(node: TS.Decorator, when: When): void {
    const { tree, file } = this.#reader
    if (!this.#known.has(node.getStart(tree))) file.decorators.push(decoratorAt(this.#reader, node, false))
    if (!this.#isWorthReading(node) && when === 'later') return
    const call = unwrapped(node.expression)
    const callee = ts.isCallExpression(call) ? call.expression : call
    // A computed callee is no decorator that the build can read. The names in it are uses like any other.
    if (!ts.isIdentifier(callee) && !ts.isPropertyAccessExpression(callee)) this.visit(callee, when)
    if (ts.isCallExpression(call)) for (const argument of call.arguments) this.visit(argument, when)
  }

  #visitAccess(node: TS.PropertyAccessExpression, when: When): void {
    const { file, readExpression } = this.#reader
    const root = rootOf(node)
    if (!ts.isIdentifier(root)) this.visit(node.expression, when)
    else if (file.imports.has(root.text)) file.uses.push(readExpression(node))
  }

  #noteCall(node: TS.CallExpression | TS.NewExpression, when: When): void {
    const { file, at, written } = this.#reader
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
    if (when !== 'later') this.#noteEarlyCall(callee, isNew, when, node)
  }

  #noteEarlyCall(callee: TS.Expression, isNew: boolean, when: Exclude<When, 'later'>, node: TS.Node): void {
    const { file, at, readExpression } = this.#reader
    if (!ts.isIdentifier(rootOf(callee))) return
    const className = when === 'module' ? undefined : when.className
    file.earlyCalls.push({ callee: readExpression(callee), isNew, className, place: at(node) })
  }
}

/**
 * Most of a file are bodies of functions, and most of these contain no decorator, no `eval` and no imported name. One
 * search of the text finds all such words, so that whole subtrees can be skipped.
 * @returns whether a node may contain such a word.
 */
function createFinder({ tree, file }: Reader, known: ReadonlySet<number>): (node: TS.Node) => boolean {
  const { text } = tree
  const places: number[] = []
  const find = (word: string) => {
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
      if (!known.has(at) && !known.has(at - 1)) places.push(at) // Leaves out known decorators and their names.
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

/** Names of the SDK that any function may use. */
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
