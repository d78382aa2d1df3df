/** Reads the classes at the top of a file, their members, and the decorators on both. */
import type { ts as TS } from 'ts-morph'
import type { Span, Unfit } from './declaration.ts'
import { type Expression, propertyName } from './expression.ts'
import { readResult } from './results.ts'
import type { DecoratorSyntax, MemberSyntax, ParameterSyntax, Reader } from './source-file.ts'
import { hasModifier, namesIn } from './syntax.ts'
import { ts } from './typescript.ts'

export function readClass(reader: Reader, node: TS.ClassDeclaration): void {
  if (hasModifier(node, ts.SyntaxKind.DeclareKeyword)) return // A declared class does not exist at run time.
  const { file, at, lineOf } = reader
  const name = node.name?.text
  const isExported = hasModifier(node, ts.SyntaxKind.ExportKeyword)
  const defaultKeyword = node.modifiers?.find(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)
  if (isExported && !defaultKeyword && name !== undefined) file.exports.set(name, { local: name })
  if (defaultKeyword && name !== undefined) file.exports.set('default', { local: name })
  const built = node.members.find((member) => ts.isConstructorDeclaration(member) && member.body)
  const keyword = keywordOf(reader, node)
  const place = node.name ? at(node.name) : { file: file.path, start: keyword, end: keyword + 'class'.length }
  file.classes.push({
    name,
    place,
    line: lineOf(place),
    keyword,
    start: node.modifiers?.find(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)?.getStart(reader.tree) ?? keyword,
    defaultKeyword: defaultKeyword && withBlanks(at(defaultKeyword), reader.tree.text),
    isAbstract: hasModifier(node, ts.SyntaxKind.AbstractKeyword),
    isSchema: node.members.some(
      (member) =>
        hasModifier(member, ts.SyntaxKind.StaticKeyword) && member.name && propertyName(member.name) === '~standard',
    ),
    decorators: placedOn(reader, node, false),
    base: baseOf(reader, node),
    implemented: implementedBy(node),
    constructorParameters: built
      ? (built as TS.ConstructorDeclaration).parameters
          .filter(isValue)
          .map((parameter) => readParameter(reader, parameter, false))
      : undefined,
    members: node.members
      .filter((member) => !ts.isConstructorDeclaration(member))
      .flatMap((member) => readMember(reader, member)),
    memberNames: [
      ...node.members.flatMap(nameOfMember),
      ...(built ? propertiesOf(built as TS.ConstructorDeclaration) : []),
    ],
  })
}

/** The offset of `class`, or of `abstract class`: after decorators, `export` and `default`. */
function keywordOf({ tree }: Reader, node: TS.ClassDeclaration): number {
  const before = node.modifiers?.filter(({ kind }) => kind !== ts.SyntaxKind.AbstractKeyword) ?? []
  const last = before.at(-1)
  if (!last) return node.getStart(tree)
  trivia.lastIndex = last.end
  trivia.test(tree.text)
  return trivia.lastIndex
}

const trivia = /(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*)*/y

function withBlanks(place: Span, text: string): Span {
  const end = place.end + /^\s*/.exec(text.slice(place.end, place.end + 200))![0].length
  return { ...place, end }
}

/** Signatures of overloads and fields that are only declared do not exist at run time. */
function nameOfMember(node: TS.ClassElement): string[] {
  const isReal = ts.isPropertyDeclaration(node)
    ? !hasModifier(node, ts.SyntaxKind.DeclareKeyword)
    : 'body' in node && !!node.body
  const name =
    isReal && node.name && !hasModifier(node, ts.SyntaxKind.StaticKeyword) ? propertyName(node.name) : undefined
  return name === undefined ? [] : [name]
}

/** A constructor parameter with a modifier is a field too: `constructor(private readonly orders: Orders)`. */
function propertiesOf({ parameters }: TS.ConstructorDeclaration): string[] {
  return parameters.flatMap(({ name, modifiers }) =>
    ts.isIdentifier(name) && modifiers?.some(ts.isModifier) ? [name.text] : [],
  )
}

function readMember(reader: Reader, node: TS.ClassElement): MemberSyntax[] {
  const own = ts.isMethodDeclaration(node) ? node.parameters : []
  if (!hasDecorator(node) && !own.some(hasDecorator)) return []
  const decorators = placedOn(reader, node, true)
  const parameters = own.filter(isValue).map((parameter) => readParameter(reader, parameter, true))
  const name = node.name && propertyName(node.name)
  const place = reader.at(node.name ?? node)
  return [
    {
      name: name ?? (node.name ? reader.written(node.name) : ''),
      place,
      line: reader.lineOf(place),
      unfit: name === undefined ? 'computed name' : unfitness(node),
      decorators,
      parameters,
      result: ts.isMethodDeclaration(node) ? readResult(reader, node) : undefined,
    },
  ]
}

function hasDecorator(node: TS.Node): boolean {
  return hasModifier(node, ts.SyntaxKind.Decorator)
}

function unfitness(node: TS.ClassElement): Unfit | undefined {
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

/** A parameter called `this` does not exist at run time. */
function isValue({ name }: TS.ParameterDeclaration): boolean {
  return !(ts.isIdentifier(name) && name.text === 'this')
}

/** @param isHandler the parameter belongs to a method, so its decorators say what it receives. */
function readParameter(reader: Reader, node: TS.ParameterDeclaration, isHandler: boolean): ParameterSyntax {
  const { at, written } = reader
  const { type } = node
  const decorators = isHandler ? placedOn(reader, node, false) : []
  const typeName = type && ts.isTypeReferenceNode(type) && !type.typeArguments ? entityName(type.typeName) : undefined
  return {
    name: ts.isIdentifier(node.name) ? node.name.text : written(node.name),
    place: at(node.name),
    typeName,
    type: typeName ?? (type ? written(type) : ''),
    typePlace: at(type ?? node.name),
    typeNames: type && decorators.length > 0 ? namesIn(type) : [],
    isOptional: node.initializer !== undefined || node.questionToken !== undefined,
    decorators,
  }
}

function placedOn(reader: Reader, node: TS.Node, onMember: boolean): DecoratorSyntax[] {
  if (!hasDecorator(node)) return []
  const placed = decoratorsOf(reader, node, onMember)
  for (const decorator of placed) reader.file.placed.add(decorator)
  reader.file.decorators.push(...placed)
  return placed
}

export function decoratorAt(
  { at, readExpression }: Reader,
  decorator: TS.Decorator,
  onMember: boolean,
): DecoratorSyntax {
  const call = unwrapped(decorator.expression)
  const isCalled = ts.isCallExpression(call)
  return {
    callee: readExpression(isCalled ? call.expression : call),
    isCalled,
    arguments: isCalled ? call.arguments.map(readExpression) : [],
    place: at(decorator),
    onMember,
  }
}

function decoratorsOf(reader: Reader, node: TS.Node, onMember: boolean): DecoratorSyntax[] {
  const { modifiers } = node as { modifiers?: readonly TS.ModifierLike[] }
  if (!modifiers) return []
  const first = modifiers[0]
  return modifiers
    .filter(ts.isDecorator)
    .map((decorator) => decoratorAt(reader, decorator, onMember && decorator === first))
}

function baseOf({ readExpression }: Reader, node: TS.ClassDeclaration): Expression | undefined {
  const clause = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0]
  return clause && readExpression(clause.expression)
}

function implementedBy(node: TS.ClassDeclaration): string[] {
  const clause = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ImplementsKeyword)
  return (clause?.types ?? []).flatMap(({ expression: named }) => {
    if (ts.isIdentifier(named)) return named.text
    const isMember = ts.isPropertyAccessExpression(named) && ts.isIdentifier(named.expression)
    return isMember ? `${(named.expression as TS.Identifier).text}.${named.name.text}` : []
  })
}

export function unwrapped(expression: TS.Expression): TS.Expression {
  return ts.isParenthesizedExpression(expression) ? unwrapped(expression.expression) : expression
}

function entityName(name: TS.EntityName): string | undefined {
  if (ts.isIdentifier(name)) return name.text
  return ts.isIdentifier(name.left) ? `${name.left.text}.${name.right.text}` : undefined
}
