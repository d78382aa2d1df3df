/** Decorators of the SDK, by what they are imported as: never by spelling. */
import type { ClassSyntax, DecoratorSyntax } from '../classes.ts'
import { decoratorNames, type ForeignMark, type Mark } from '../declaration.ts'
import type { Program } from '../program.ts'
import type { SourceFile } from '../project.ts'

export function readMarks(program: Program, file: SourceFile, decorators: readonly DecoratorSyntax[]): Mark[] {
  return decorators.flatMap((decorator) => {
    const name = program.sdkDecorator(file, decorator)
    if (name === undefined) return []
    const { place, isCalled } = decorator
    return [{ name, place, isCalled, arguments: decorator.arguments.map((part) => program.evaluate(file, part)) }]
  })
}

/** Decorators on a class and inside of it that bear the name of one of the SDK's and come from a package. */
export function readForeignMarks(program: Program, file: SourceFile, syntax: ClassSyntax): ForeignMark[] {
  const classId = `${file.path}#${syntax.name ?? 'default'}`
  const inside = syntax.members.flatMap(({ decorators, parameters }) => [
    ...decorators,
    ...parameters.flatMap((parameter) => parameter.decorators),
  ])
  return [...syntax.decorators, ...inside].flatMap(({ callee, place }) => {
    if (callee.kind !== 'name' || !decoratorNames.has(callee.name) || !file.imports.has(callee.name)) return []
    const meaning = program.meaningOfExpression(file, callee)
    return meaning?.kind === 'foreign' ? [{ classId, name: callee.name, from: meaning.from, place }] : []
  })
}
