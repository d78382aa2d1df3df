/**
 * Reads the value of a constant that a package exports from its literal type. The type checker gets a file of its own
 * that imports this one name: it loads the declarations of that package and nothing of the project.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import type { ts as TS } from 'ts-morph'
import { createProject, ts } from './typescript.ts'

export interface Checker {
  /**
   * @param folder absolute path of the folder that imports the package. @param name the exported name, then members.
   * @returns the value, or `undefined` when the type leaves room for more than one.
   */
  constantOf(folder: string, from: string, name: readonly string[]): { value: unknown } | undefined
  /** Types of packages were read, so files that are no sources have decided the result. */
  hasReadTypes(): boolean
  /** A file that was read has changed since. */
  isStale(): boolean
}

/** @param root absolute. @param options how imports resolve. */
export function createChecker(root: string, options: TS.CompilerOptions): Checker {
  const files = new Map<string, string>()
  const constants = new Map<string, { value: unknown } | undefined>()
  let project: ReturnType<typeof createProject> | undefined

  return {
    constantOf(folder, from, name) {
      const key = JSON.stringify([folder, from, name])
      if (!constants.has(key)) constants.set(key, readConstant(folder, from, name))
      return constants.get(key)
    },
    hasReadTypes: () => constants.size > 0,
    isStale: () => [...files].some(([file, stamp]) => stampOf(file) !== stamp),
  }

  function open() {
    const opened = createProject({
      compilerOptions: { ...options, noLib: true, types: [], noEmit: true, strict: true },
      skipAddingFilesFromTsConfig: true,
    })
    opened.createSourceFile(path.join(root, 'stack.lib.d.ts'), fewTypes, { overwrite: true })
    return opened
  }

  function readConstant(folder: string, from: string, [exported, ...members]: readonly string[]) {
    if (exported === 'default' || exported === undefined) return undefined
    project ??= open()
    const access = members.map((member) => `[${JSON.stringify(member)}]`).join('')
    const text = `import { ${exported} as asked } from ${JSON.stringify(from)}\nasked${access}\n`
    const file = project.createSourceFile(path.join(folder || root, 'stack.asked.ts'), text, { overwrite: true })
    const statement = file.compilerNode.statements.at(-1) as TS.ExpressionStatement
    const checker = project.getTypeChecker().compilerObject
    for (const { fileName } of project.getProgram().compilerObject.getSourceFiles()) {
      files.set(fileName, stampOf(fileName))
    }
    const [declaration] = file.compilerNode.statements as unknown as [TS.ImportDeclaration]
    const { elements } = declaration.importClause!.namedBindings as TS.NamedImports
    if (!isConstant(checker.getSymbolAtLocation(elements[0]!.name), checker)) return undefined
    return valueOfType(checker.getTypeAtLocation(statement.expression), checker, statement)
  }
}

/** Literal types, enum members, and objects with `readonly` members of such types: they admit exactly one value. */
function valueOfType(type: TS.Type, checker: TS.TypeChecker, at: TS.Node): { value: unknown } | undefined {
  if (type.isStringLiteral() || type.isNumberLiteral()) return { value: type.value }
  if (type.flags & ts.TypeFlags.BooleanLiteral) return { value: checker.typeToString(type) === 'true' }
  if (type.flags & ts.TypeFlags.Null) return { value: null }
  // Interfaces, index signatures and writable members admit more values than the type lists.
  const flags = type.flags & ts.TypeFlags.Object ? (type as TS.ObjectType).objectFlags : 0
  const isAnonymous = (flags & (ts.ObjectFlags.Anonymous | ts.ObjectFlags.Mapped)) !== 0
  const isOpen = type.getCallSignatures().length > 0 || checker.getIndexInfosOfType(type).length > 0
  const properties = isAnonymous && !isOpen ? type.getProperties() : []
  if (properties.length === 0) return undefined
  const entries: [string, unknown][] = []
  for (const property of properties) {
    const isFixed = isReadonly(property) && !(property.flags & ts.SymbolFlags.Optional)
    const found = isFixed ? valueOfType(checker.getTypeOfSymbolAtLocation(property, at), checker, at) : undefined
    if (!found) return undefined
    entries.push([property.name, found.value])
  }
  return { value: Object.fromEntries(entries) }
}

function isReadonly(property: TS.Symbol): boolean {
  const isDeclared = property.declarations?.some(
    (declaration) => ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Readonly,
  )
  const { links } = property as unknown as { links?: { checkFlags?: number } }
  const isMapped = ((links?.checkFlags ?? 0) & 8) !== 0 // CheckFlags.Readonly marks members of a mapped type like `Readonly<…>`.
  return isDeclared === true || isMapped
}

/** A `const` or an enum. A `let` may have another value by now. */
function isConstant(symbol: TS.Symbol | undefined, checker: TS.TypeChecker): boolean {
  const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const declaration = target?.valueDeclaration
  if (!declaration) return false
  if (ts.isEnumDeclaration(declaration)) return true
  return ts.isVariableDeclaration(declaration) && (ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const) !== 0
}

function stampOf(file: string): string {
  const found = fs.statSync(file, { throwIfNoEntry: false })
  return found ? `${found.mtimeMs} ${found.size}` : 'none'
}

/** The types that declarations of constants use. TypeScript's own library would take longer to load than all the rest. */
const fewTypes = `interface Array<T> { length: number }
interface Boolean {} interface CallableFunction {} interface Function {} interface IArguments {}
interface NewableFunction {} interface Number {} interface Object {} interface RegExp {} interface String {}
type Readonly<T> = { readonly [P in keyof T]: T[P] }`
