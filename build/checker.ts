/**
 * What only the type checker can tell: the value of a constant that a package exports, from its literal type. It is asked
 * for that name alone, in a file of its own: of the project nothing is loaded, of the packages what declares the name.
 */
import path from 'node:path'
import type { ts as TS } from 'ts-morph'
import { Project, ts } from './typescript.ts'

/** @returns the value, or `undefined` when its type does not fix it. */
export type Ask = (folder: string, from: string, name: readonly string[]) => { value: unknown } | undefined

/** @param root absolute. @param options how imports resolve. */
export function createChecker(root: string, options: TS.CompilerOptions): Ask {
  const answers = new Map<string, { value: unknown } | undefined>()
  let project: InstanceType<typeof Project> | undefined

  return (folder, from, name) => {
    const key = JSON.stringify([folder, from, name])
    if (!answers.has(key)) answers.set(key, answer(folder, from, name))
    return answers.get(key)
  }

  function answer(folder: string, from: string, [exported, ...members]: readonly string[]) {
    if (exported === 'default' || exported === undefined) return undefined
    project ??= new Project({
      compilerOptions: { ...options, noLib: true, types: [], noEmit: true, strict: true },
      skipAddingFilesFromTsConfig: true,
    })
    const access = members.map((member) => `[${JSON.stringify(member)}]`).join('')
    const text = `import { ${exported} as asked } from ${JSON.stringify(from)}\nasked${access}\n`
    const file = project.createSourceFile(path.join(folder || root, 'stack.asked.ts'), text, { overwrite: true })
    const statement = file.compilerNode.statements.at(-1) as TS.ExpressionStatement
    const checker = project.getTypeChecker().compilerObject
    return valueOfType(checker.getTypeAtLocation(statement.expression), checker, statement)
  }
}

/** Literal types, enum members, and objects made of nothing else. */
function valueOfType(type: TS.Type, checker: TS.TypeChecker, at: TS.Node): { value: unknown } | undefined {
  if (type.isStringLiteral() || type.isNumberLiteral()) return { value: type.value }
  if (type.flags & ts.TypeFlags.BooleanLiteral) return { value: checker.typeToString(type) === 'true' }
  if (type.flags & ts.TypeFlags.Null) return { value: null }
  const isPlain = type.flags & ts.TypeFlags.Object && type.getCallSignatures().length === 0 && !type.isClass()
  const properties = isPlain ? type.getProperties() : []
  if (properties.length === 0) return undefined
  const entries: [string, unknown][] = []
  for (const property of properties) {
    const isOptional = property.flags & ts.SymbolFlags.Optional
    const found = isOptional ? undefined : valueOfType(checker.getTypeOfSymbolAtLocation(property, at), checker, at)
    if (!found) return undefined
    entries.push([property.name, found.value])
  }
  return { value: Object.fromEntries(entries) }
}
