/**
 * Source text to plain data: with expression.ts, all that knows the TypeScript syntax tree. Trees are dropped at once; what stays is
 * small. Parsing only, no type checker: what cannot be read from the text is not guessed; types are tsc's to check.
 */
import { ts } from 'ts-morph'
import type { Place } from './declaration.ts'
import { createExpressionReader, type Expression, type Property, propertyName } from './expression.ts'

export interface DecoratorSyntax {
  callee: Expression
  isCalled: boolean
  arguments: Expression[]
  place: Place
  /** Offsets into the text. */
  start: number
  end: number
  /** Is the first thing of a member of a class: blanking it must leave a `;` behind. */
  onMember: boolean
}

interface ParameterSyntax {
  name: string
  place: Place
  /** The type's name where it is a plain reference: `Orders`, or `orders.Orders`. */
  typeName: string | undefined
  type: string
  typePlace: Place
  /** Has a default, or a question mark: nobody need provide it. */
  isOptional: boolean
  decorators: DecoratorSyntax[]
}

/** Why a member cannot serve as a handler. */
export type Unfit = 'static' | 'not public' | 'abstract' | 'a generator' | 'not a method' | 'computed name'

export interface MemberSyntax {
  name: string
  place: Place
  unfit: Unfit | undefined
  decorators: DecoratorSyntax[]
  parameters: ParameterSyntax[]
}

export interface ClassSyntax {
  /** Undefined for `export default class {}`. */
  name: string | undefined
  place: Place
  isDefaultExport: boolean
  isAbstract: boolean
  /** What stands after `extends`. */
  base: Expression | undefined
  decorators: DecoratorSyntax[]
  /** Undefined where the class has no constructor of its own. */
  constructorParameters: ParameterSyntax[] | undefined
  members: MemberSyntax[]
  /** Every member that has a body or a value, by name: a later one replaces an earlier one. */
  memberNames: string[]
}

export interface SourceFile {
  path: string
  classes: ClassSyntax[]
  /** Local name → where it comes from; `*` for a namespace. */
  imports: Map<string, { from: string; name: string }>
  /** Every other file that this one needs at run time. */
  needs: { from: string; place: Place }[]
  /** Exported name → a local one, or one of another file. */
  exports: Map<string, ({ local: string } | { from: string; name: string }) & { isTypeOnly?: boolean }>
  /** `export * from` */
  stars: string[]
  /** Top-level `const` and enums; anything else that a name may mean is absent. */
  constants: Map<string, Expression>
  /** Every other name that the top of the file declares. */
  declared: Set<string>
  /** All, wherever they stand. */
  decorators: DecoratorSyntax[]
  /** Those that stand where a declaration is read: on a class at the top of the file, its methods, their parameters. */
  placed: Set<DecoratorSyntax>
  /** Imported names that are used as values elsewhere than as a decorator. */
  uses: { expression: Expression; place: Place }[]
  errors: { message: string; place: Place }[]
}

const longestText = 60

/** @param path relative to the project, with `/`. @param text without a byte order mark. */
export function parse(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  })
  const file: SourceFile = {
    path,
    classes: [],
    imports: new Map(),
    needs: [],
    exports: new Map(),
    stars: [],
    constants: new Map(),
    declared: new Set(),
    decorators: [],
    placed: new Set(),
    uses: [],
    errors: [],
  }
  const readExpression = createExpressionReader(at, written)
  const diagnostics = (tree as unknown as { parseDiagnostics: ts.DiagnosticWithLocation[] }).parseDiagnostics
  for (const { start, length, messageText } of diagnostics) {
    file.errors.push({
      message: typeof messageText === 'string' ? messageText : messageText.messageText,
      place: placeOf(start, start + Math.max(1, length)),
    })
  }
  for (const statement of tree.statements) readStatement(statement)
  for (const statement of tree.statements) visit(statement)
  return file

  function placeOf(start: number, end: number): Place {
    const from = tree.getLineAndCharacterOfPosition(start)
    const to = tree.getLineAndCharacterOfPosition(Math.min(end, text.length))
    return {
      file: path,
      line: from.line + 1,
      column: from.character + 1,
      endLine: to.line + 1,
      endColumn: to.character + 1,
    }
  }

  function at(node: ts.Node): Place {
    return placeOf(node.getStart(tree), node.end)
  }

  function written(node: ts.Node): string {
    const source = text.slice(node.getStart(tree), node.end).replace(/\s+/g, ' ')
    return source.length > longestText ? `${source.slice(0, longestText - 1)}…` : source
  }

  function readStatement(node: ts.Statement): void {
    if (ts.isImportDeclaration(node)) readImport(node)
    else if (ts.isImportEqualsDeclaration(node)) readImportEquals(node)
    else if (ts.isExportDeclaration(node)) readExport(node)
    else if (ts.isExportAssignment(node)) {
      if (ts.isIdentifier(node.expression)) file.exports.set('default', { local: node.expression.text })
    } else if (ts.isClassDeclaration(node)) readClass(node)
    else if (ts.isEnumDeclaration(node)) readEnum(node)
    else if (ts.isFunctionDeclaration(node) && node.name) file.declared.add(node.name.text)
    else if (ts.isVariableStatement(node)) {
      for (const { name, initializer } of node.declarationList.declarations) {
        if (!ts.isIdentifier(name)) continue
        file.declared.add(name.text)
        if (hasModifier(node, ts.SyntaxKind.ExportKeyword)) file.exports.set(name.text, { local: name.text })
        if (initializer && node.declarationList.flags & ts.NodeFlags.Const) {
          file.constants.set(name.text, readExpression(initializer))
        }
      }
    }
  }

  function readImport({ moduleSpecifier, importClause }: ts.ImportDeclaration): void {
    const from = (moduleSpecifier as ts.StringLiteral).text
    if (!importClause?.isTypeOnly) file.needs.push({ from, place: at(moduleSpecifier) })
    if (importClause?.name) file.imports.set(importClause.name.text, { from, name: 'default' })
    const bindings = importClause?.namedBindings
    if (!bindings) return
    if (ts.isNamespaceImport(bindings)) file.imports.set(bindings.name.text, { from, name: '*' })
    else {
      for (const { name, propertyName } of bindings.elements) {
        file.imports.set(name.text, { from, name: (propertyName ?? name).text })
      }
    }
  }

  /** `import sdk = require('…')` */
  function readImportEquals({ name, moduleReference }: ts.ImportEqualsDeclaration): void {
    if (ts.isExternalModuleReference(moduleReference) && ts.isStringLiteral(moduleReference.expression)) {
      file.imports.set(name.text, { from: moduleReference.expression.text, name: '*' })
    }
  }

  function readExport({ moduleSpecifier, exportClause, isTypeOnly }: ts.ExportDeclaration): void {
    const from = moduleSpecifier && (moduleSpecifier as ts.StringLiteral).text
    if (from !== undefined && !isTypeOnly) file.needs.push({ from, place: at(moduleSpecifier as ts.Expression) })
    if (!exportClause) {
      if (from !== undefined) file.stars.push(from)
    } else if (ts.isNamedExports(exportClause)) {
      for (const element of exportClause.elements) {
        const source = (element.propertyName ?? element.name).text
        const origin = from === undefined ? { local: source } : { from, name: source }
        file.exports.set(element.name.text, { ...origin, isTypeOnly: isTypeOnly || element.isTypeOnly })
      }
    } else if (from !== undefined) file.exports.set(exportClause.name.text, { from, name: '*' })
  }

  function readEnum(node: ts.EnumDeclaration): void {
    let next: number | undefined = 0
    const properties: Property[] = node.members.map((member) => {
      const key = ts.isIdentifier(member.name) || ts.isStringLiteral(member.name) ? member.name.text : undefined
      let value: Expression
      if (member.initializer) value = readExpression(member.initializer)
      else if (next === undefined) value = { kind: 'other', text: written(member), place: at(member) }
      else value = { kind: 'literal', value: next, place: at(member) }
      next = value.kind === 'literal' && typeof value.value === 'number' ? value.value + 1 : undefined
      return { key, keyPlace: at(member.name), value }
    })
    if (hasModifier(node, ts.SyntaxKind.ExportKeyword)) file.exports.set(node.name.text, { local: node.name.text })
    file.constants.set(node.name.text, { kind: 'record', properties, place: at(node) })
  }

  function readClass(node: ts.ClassDeclaration): void {
    if (hasModifier(node, ts.SyntaxKind.DeclareKeyword)) return // does not exist at run time
    const name = node.name?.text
    const isExported = hasModifier(node, ts.SyntaxKind.ExportKeyword)
    const isDefaultExport = hasModifier(node, ts.SyntaxKind.DefaultKeyword)
    if (isExported && !isDefaultExport && name !== undefined) file.exports.set(name, { local: name })
    if (isDefaultExport && name !== undefined) file.exports.set('default', { local: name })
    const built = node.members.find((member) => ts.isConstructorDeclaration(member) && member.body)
    const declaration: ClassSyntax = {
      name,
      place: node.name ? at(node.name) : keywordPlace(node),
      isDefaultExport,
      isAbstract: hasModifier(node, ts.SyntaxKind.AbstractKeyword),
      decorators: placedOn(node, false),
      base: baseOf(node),
      constructorParameters: built
        ? (built as ts.ConstructorDeclaration).parameters
            .filter(isValue)
            .map((parameter) => readParameter(parameter, false))
        : undefined,
      members: node.members.filter((member) => !ts.isConstructorDeclaration(member)).flatMap(readMember),
      memberNames: node.members.flatMap(nameOfMember),
    }
    file.classes.push(declaration)
  }

  /** An overload's signature, and a field that is only declared, are nothing at run time. */
  function nameOfMember(node: ts.ClassElement): string[] {
    const isReal = ts.isPropertyDeclaration(node)
      ? !hasModifier(node, ts.SyntaxKind.DeclareKeyword)
      : 'body' in node && !!node.body
    const name =
      isReal && node.name && !hasModifier(node, ts.SyntaxKind.StaticKeyword) ? propertyName(node.name) : undefined
    return name === undefined ? [] : [name]
  }

  function keywordPlace(node: ts.ClassDeclaration): Place {
    const last = ts.getModifiers(node)?.at(-1)
    const start = last ? last.end + 1 : node.getStart(tree)
    return placeOf(start, start + 'class'.length)
  }

  function readMember(node: ts.ClassElement): MemberSyntax[] {
    const decorators = placedOn(node, true)
    const parameters = ts.isMethodDeclaration(node)
      ? node.parameters.filter(isValue).map((parameter) => readParameter(parameter, true))
      : []
    if (decorators.length === 0 && parameters.every((parameter) => parameter.decorators.length === 0)) return []
    const name = node.name && propertyName(node.name)
    return [
      {
        name: name ?? (node.name ? written(node.name) : ''),
        place: at(node.name ?? node),
        unfit: name === undefined ? 'computed name' : unfitness(node),
        decorators,
        parameters,
      },
    ]
  }

  function unfitness(node: ts.ClassElement): Unfit | undefined {
    if (!ts.isMethodDeclaration(node)) return 'not a method'
    if (hasModifier(node, ts.SyntaxKind.StaticKeyword)) return 'static'
    if (hasModifier(node, ts.SyntaxKind.AbstractKeyword) || !node.body) return 'abstract'
    const isPrivate =
      ts.isPrivateIdentifier(node.name) ||
      hasModifier(node, ts.SyntaxKind.PrivateKeyword) ||
      hasModifier(node, ts.SyntaxKind.ProtectedKeyword)
    if (isPrivate) return 'not public'
    return node.asteriskToken ? 'a generator' : undefined
  }

  /** `this` is no parameter at run time. */
  function isValue({ name }: ts.ParameterDeclaration): boolean {
    return !(ts.isIdentifier(name) && name.text === 'this')
  }

  /** @param isHandler decorators on it say what it receives. */
  function readParameter(node: ts.ParameterDeclaration, isHandler: boolean): ParameterSyntax {
    const { type } = node
    return {
      name: written(node.name),
      place: at(node.name),
      typeName: type && ts.isTypeReferenceNode(type) && !type.typeArguments ? entityName(type.typeName) : undefined,
      type: type ? written(type) : '',
      typePlace: at(type ?? node.name),
      isOptional: node.initializer !== undefined || node.questionToken !== undefined,
      decorators: isHandler ? placedOn(node, false) : [],
    }
  }

  function placedOn(node: ts.Node, onMember: boolean): DecoratorSyntax[] {
    const placed = decoratorsOf(node, onMember)
    for (const decorator of placed) file.placed.add(decorator)
    file.decorators.push(...placed)
    return placed
  }

  /** Finds the decorators that stand anywhere else, and imported names in the place of a value. */
  function visit(node: ts.Node): void {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return
    if (ts.isDecorator(node)) {
      const known = file.decorators.some(({ start }) => start === node.getStart(tree))
      if (!known) file.decorators.push(decoratorAt(node, false))
      const { expression } = node
      const call = unwrapped(expression)
      if (ts.isCallExpression(call)) for (const argument of call.arguments) visit(argument)
      return
    }
    if (ts.isIdentifier(node)) {
      if (file.imports.has(node.text)) file.uses.push({ expression: readExpression(node), place: at(node) })
      return
    }
    if (ts.isPropertyAccessExpression(node)) {
      file.uses.push({ expression: readExpression(node), place: at(node) })
      if (!ts.isIdentifier(node.expression)) visit(node.expression)
      return
    }
    // a name that is declared here is no use of another; `{ Get }` is
    const name = 'name' in node && !ts.isShorthandPropertyAssignment(node) ? node.name : undefined
    ts.forEachChild(node, (child) => {
      if (child !== name || ts.isObjectBindingPattern(child) || ts.isArrayBindingPattern(child)) visit(child)
    })
  }

  function decoratorAt(decorator: ts.Decorator, onMember: boolean, isFirst = true): DecoratorSyntax {
    const { expression, end } = decorator
    const start = decorator.getStart(tree)
    const call = unwrapped(expression)
    const isCalled = ts.isCallExpression(call)
    return {
      callee: readExpression(isCalled ? call.expression : call),
      isCalled,
      arguments: isCalled ? call.arguments.map(readExpression) : [],
      place: placeOf(start, end),
      start,
      end,
      onMember: onMember && isFirst,
    }
  }

  function decoratorsOf(node: ts.Node, onMember: boolean): DecoratorSyntax[] {
    const found = (ts.canHaveDecorators(node) && ts.getDecorators(node)) || []
    const first = 'modifiers' in node ? (node.modifiers as ts.NodeArray<ts.ModifierLike> | undefined)?.[0] : undefined
    return found.map((decorator) => decoratorAt(decorator, onMember, decorator === first))
  }

  function baseOf(node: ts.ClassDeclaration): Expression | undefined {
    const clause = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0]
    return clause && readExpression(clause.expression)
  }
}

function unwrapped(expression: ts.Expression): ts.Expression {
  return ts.isParenthesizedExpression(expression) ? unwrapped(expression.expression) : expression
}

function entityName(name: ts.EntityName): string | undefined {
  if (ts.isIdentifier(name)) return name.text
  return ts.isIdentifier(name.left) ? `${name.left.text}.${name.right.text}` : undefined
}

function hasModifier(node: ts.Node, kind: ts.SyntaxKind): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node)?.some((modifier) => modifier.kind === kind) ?? false)
}
