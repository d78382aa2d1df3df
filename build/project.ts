/**
 * Parses a source file and reads it into plain data. Only this file, classes.ts, results.ts, scan.ts, expression.ts and
 * syntax.ts know the TypeScript syntax tree. The tree is dropped at once, because the plain data is much smaller. No type
 * checker runs here: a value that the text does not tell is unknown, and type errors are left to `tsc`.
 */
import type { ts as TS } from 'ts-morph'
import { readClass } from './classes.ts'
import type { Span } from './declaration.ts'
import { createExpressionReader, type Expression, type Property } from './expression.ts'
import { lineAt } from './locate.ts'
import { scan } from './scan.ts'
import { emptyFile, type Reader, type SourceFile } from './source-file.ts'
import { hasModifier, namesIn } from './syntax.ts'
import { ts } from './typescript.ts'

/** Largest number of characters of source text that a message quotes: more would not fit on a line of 80 columns. */
const longestText = 60

/** @param path relative to the project, with `/`. @param text without a byte order mark. */
export function parse(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  })
  const file = emptyFile(path, tree.getLineStarts())
  file.importsEnd = text.startsWith('#!') ? text.search(/\r?\n|$/) : 0
  const at = (node: TS.Node): Span => ({ file: path, start: node.getStart(tree), end: node.end })
  const written = (node: TS.Node) => {
    const source = text.slice(node.getStart(tree), node.end).replace(/\s+/g, ' ')
    return source.length > longestText ? `${source.slice(0, longestText - 1)}…` : source
  }
  const { lineStarts } = file
  const lineOf = ({ start }: Span) => lineAt(lineStarts, start) + 1
  const reader: Reader = { tree, file, at, written, lineOf, readExpression: createExpressionReader(at, written) }
  const diagnostics = (tree as unknown as { parseDiagnostics: TS.DiagnosticWithLocation[] }).parseDiagnostics
  for (const { start, length, messageText } of diagnostics) {
    const end = Math.min(start + Math.max(1, length), text.length)
    const message = typeof messageText === 'string' ? messageText : messageText.messageText
    file.errors.push({ message, place: { file: path, start: Math.min(start, end), end } })
  }
  for (const statement of tree.statements) readStatement(reader, statement)
  scan(reader)
  return file
}

function readStatement(reader: Reader, node: TS.Statement): void {
  const { file } = reader
  if (ts.isImportDeclaration(node)) readImport(reader, node)
  else if (ts.isImportEqualsDeclaration(node)) readImportEquals(file, node)
  else if (ts.isExportDeclaration(node)) readExport(reader, node)
  else if (ts.isExportAssignment(node)) readDefault(reader, node)
  else if (ts.isClassDeclaration(node)) readClass(reader, node)
  else if (ts.isEnumDeclaration(node)) readEnum(reader, node)
  else if (ts.isFunctionDeclaration(node) || ts.isModuleDeclaration(node)) declare(file, node, node.name)
  else if (ts.isTypeAliasDeclaration(node)) file.types.set(node.name.text, namesIn(node.type))
  else if (ts.isInterfaceDeclaration(node)) {
    file.types.set(node.name.text, node.heritageClauses?.flatMap(({ types }) => types.flatMap(namesIn)) ?? [])
  } else if (ts.isVariableStatement(node)) {
    for (const { name, initializer } of node.declarationList.declarations) {
      for (const one of namesOf(name)) declare(file, node, one)
      if (ts.isIdentifier(name) && initializer && node.declarationList.flags & ts.NodeFlags.Const) {
        file.constants.set(name.text, reader.readExpression(initializer))
      }
    }
  }
}

/** Notes an exported name even where its value is unknown. Otherwise an `export *` of the same file would seem to supply it. */
function declare(file: SourceFile, node: TS.Statement, name: TS.Node | undefined): void {
  if (!name || !ts.isIdentifier(name) || isMissing(name)) return
  file.declared.add(name.text)
  if (!hasModifier(node, ts.SyntaxKind.ExportKeyword)) return
  if (!hasModifier(node, ts.SyntaxKind.DefaultKeyword)) file.exports.set(name.text, { local: name.text })
}

/** The parser makes an empty name where the text has none. No declaration may be found by it. */
function isMissing({ text }: TS.ModuleExportName): boolean {
  return text === ''
}

/** The module that an import or export names. Undefined while the statement is only half written. */
function specifierOf(node: TS.Expression | undefined): string | undefined {
  return node && ts.isStringLiteralLike(node) ? node.text : undefined
}

/** TypeScript's parser takes any expression as a specifier, and only its type checker complains. */
function addSpecifierError(file: SourceFile, place: Span): void {
  file.errors.push({ message: 'String literal expected', place })
}

/** `const { a, b: [c] } = …` */
function namesOf(name: TS.BindingName): TS.Identifier[] {
  if (ts.isIdentifier(name)) return [name]
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? namesOf(element.name) : []))
}

/** `export default …`. An expression is kept as the constant `default`, a name that no identifier can have. */
function readDefault({ file, readExpression }: Reader, { expression, isExportEquals }: TS.ExportAssignment): void {
  if (isExportEquals) return
  if (ts.isIdentifier(expression)) file.exports.set('default', { local: expression.text })
  else {
    file.exports.set('default', { local: 'default' })
    file.constants.set('default', readExpression(expression))
  }
}

function readImport({ file, at }: Reader, { moduleSpecifier, importClause, end }: TS.ImportDeclaration): void {
  const from = specifierOf(moduleSpecifier)
  if (from === undefined) {
    addSpecifierError(file, at(moduleSpecifier))
    return
  }
  file.importsEnd = end
  const names: string[] = []
  const add = (local: TS.Identifier, name: string, isType = false) => {
    if (isMissing(local)) return
    file.imports.set(local.text, { from, name, ...(isType ? { isTypeOnly: true } : {}) })
    if (!isType) names.push(local.text)
  }
  if (!importClause?.isTypeOnly) {
    file.needs.push({ from, place: at(moduleSpecifier), ...(importClause ? { names } : {}) })
  }
  if (importClause?.name) add(importClause.name, 'default', importClause.isTypeOnly)
  const bindings = importClause?.namedBindings
  if (!bindings) return
  if (ts.isNamespaceImport(bindings)) add(bindings.name, '*', importClause.isTypeOnly)
  else {
    const last = bindings.elements.at(-1)
    if (last && !importClause.isTypeOnly) file.namedImports.push({ from, lastName: last.end })
    for (const { name, propertyName, isTypeOnly } of bindings.elements) {
      add(name, (propertyName ?? name).text, isTypeOnly || importClause.isTypeOnly)
    }
  }
}

/** `import sdk = require('…')` */
function readImportEquals(file: SourceFile, node: TS.ImportEqualsDeclaration): void {
  const { name, moduleReference } = node
  declare(file, node, name)
  if (isMissing(name)) return
  if (ts.isExternalModuleReference(moduleReference) && ts.isStringLiteral(moduleReference.expression)) {
    file.imports.set(name.text, { from: moduleReference.expression.text, name: '*' })
  }
}

function readExport({ file, at }: Reader, { moduleSpecifier, exportClause, isTypeOnly }: TS.ExportDeclaration): void {
  const from = specifierOf(moduleSpecifier)
  if (moduleSpecifier && from === undefined) {
    addSpecifierError(file, at(moduleSpecifier))
    return
  }
  if (from !== undefined && !isTypeOnly) file.needs.push({ from, place: at(moduleSpecifier as TS.Expression) })
  if (!exportClause) {
    if (from !== undefined) file.stars.push(from)
  } else if (ts.isNamedExports(exportClause)) {
    for (const element of exportClause.elements) {
      if (isMissing(element.name)) continue
      const source = (element.propertyName ?? element.name).text
      const origin = from === undefined ? { local: source } : { from, name: source }
      file.exports.set(element.name.text, { ...origin, isTypeOnly: isTypeOnly || element.isTypeOnly })
    }
  } else if (from !== undefined) file.exports.set(exportClause.name.text, { from, name: '*' })
}

function readEnum({ file, at, written, readExpression }: Reader, node: TS.EnumDeclaration): void {
  if (isMissing(node.name)) return
  let next: number | undefined = 0
  const known = new Map<string, Expression>()
  const properties: Property[] = node.members.map((member) => {
    const key = ts.isIdentifier(member.name) || ts.isStringLiteral(member.name) ? member.name.text : undefined
    let value: Expression
    if (member.initializer) value = inEnum(readExpression(member.initializer), known)
    else if (next === undefined) value = { kind: 'other', text: written(member), place: at(member) }
    else value = { kind: 'literal', value: next, place: at(member) }
    next = value.kind === 'literal' && typeof value.value === 'number' ? value.value + 1 : undefined
    if (key !== undefined) known.set(key, value)
    return { key, keyPlace: at(member.name), value }
  })
  if (hasModifier(node, ts.SyntaxKind.ExportKeyword)) file.exports.set(node.name.text, { local: node.name.text })
  file.constants.set(node.name.text, { kind: 'record', properties, place: at(node) })
}

/** An initializer inside an enum may name an earlier member. The member takes precedence over the file's own names. */
function inEnum(expression: Expression, members: ReadonlyMap<string, Expression>): Expression {
  if (expression.kind === 'name') return members.get(expression.name) ?? expression
  if (expression.kind === 'sum') return { ...expression, terms: expression.terms.map((term) => inEnum(term, members)) }
  if (expression.kind !== 'template') return expression
  return { ...expression, parts: expression.parts.map((part) => inEnum(part, members)) }
}
