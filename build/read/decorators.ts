/** Reads the decorators of the SDK. Their import identifies them, and never their spelling. */

import { nearest } from '../../src/wire/nearest.ts'
import {
  type Decorator,
  decoratorNames,
  type ForeignDecorator,
  sdkName,
  type UnimportedDecorator,
} from '../declaration.ts'
import { isServerFramework } from '../elsewhere.ts'
import type { Expression } from '../expression.ts'
import type { Program } from '../program.ts'
import type { ClassSyntax, DecoratorSyntax, SourceFile } from '../source-file.ts'

export function readDecorators(program: Program, file: SourceFile, written: readonly DecoratorSyntax[]): Decorator[] {
  const decorators: Decorator[] = []
  for (const decorator of written) {
    const name = program.sdkDecorator(file, decorator)
    if (name === undefined) continue
    const { place, isCalled } = decorator
    const given = decorator.arguments.map((part, index) =>
      isSchemaArgument(name, index, part) ? program.shapeOf(file, part) : program.evaluate(file, part),
    )
    decorators.push({ name, place, isCalled, arguments: given })
  }
  return decorators
}

/** Whether this argument may be a schema, of which the build reads only the shape. */
function isSchemaArgument(name: string, index: number, { kind }: Expression): boolean {
  if (name === 'Body' || (name === 'Query' && index === 0)) return index === 0 && kind !== 'literal'
  return index === 1 && (name === 'Param' || name === 'Query' || name === 'Header')
}

/** Reads decorators on a class and inside it that have a name of the SDK's, or of a server framework, and another origin. */
export function readForeignDecorators(program: Program, file: SourceFile, syntax: ClassSyntax): ForeignDecorator[] {
  const classId = `${file.path}#${syntax.name ?? 'default'}`
  const read = (decorators: readonly DecoratorSyntax[], member?: string) =>
    decorators.flatMap(({ callee, place }): ForeignDecorator[] => {
      const root = callee.kind === 'member' && callee.of.kind === 'name' ? callee.of : callee
      if (root.kind !== 'name') return []
      const origin = file.imports.get(root.name)
      if (origin?.from === sdkName) return []
      if (!origin && !file.declared.has(root.name)) return [] // `readUnimported` reports it
      const meaning = program.meaningOfExpression(file, callee)
      if (meaning?.kind === 'sdk') return []
      const name = callee.kind === 'name' ? callee.name : callee.kind === 'member' ? callee.text : root.name
      if (meaning?.kind !== 'foreign') {
        if (callee.kind !== 'name' || !decoratorNames.has(name)) return []
        const from = origin?.from ?? 'this very file'
        return [{ classId, member, name, exported: name, from, isOfPackage: false, isLost: false, place }]
      }
      const { name: exported, from, isLost } = meaning
      const isOurs = decoratorNames.has(exported) || (callee.kind === 'name' && decoratorNames.has(name))
      const isNear = isOurs || nearest(exported, [...decoratorNames]) !== undefined
      if (!isNear && !isServerFramework(from)) return []
      return [{ classId, member, name, exported, from, isOfPackage: true, isLost, place }]
    })
  const inside = syntax.members.flatMap(({ name, decorators, parameters }) => [
    ...read(decorators, name),
    ...parameters.flatMap((parameter) => read(parameter.decorators, name)),
  ])
  return [...read(syntax.decorators), ...inside]
}

/** Reads decorators that the file neither imports nor declares. */
export function readUnimported(file: SourceFile): UnimportedDecorator[] {
  const owners = new Map<DecoratorSyntax, string>()
  for (const { name = 'default', decorators, members } of file.classes) {
    const inside = members.flatMap((member) => [
      ...member.decorators,
      ...member.parameters.flatMap((parameter) => parameter.decorators),
    ])
    for (const decorator of [...decorators, ...inside]) owners.set(decorator, `${file.path}#${name}`)
  }
  return file.decorators.flatMap((decorator) => {
    const { callee, place } = decorator
    if (callee.kind !== 'name' || callee.name === '' || isKnown(file, callee.name)) return []
    const classId = owners.get(decorator)
    return classId !== undefined || decoratorNames.has(callee.name) ? [{ name: callee.name, place, classId }] : []
  })
}

function isKnown({ imports, constants, declared, classes }: SourceFile, name: string): boolean {
  return imports.has(name) || constants.has(name) || declared.has(name) || classes.some((one) => one.name === name)
}
