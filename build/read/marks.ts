/** Decorators of the SDK, by what they are imported as: never by spelling. */
import type { Mark } from '../declaration.ts'
import type { Program } from '../program.ts'
import type { DecoratorSyntax, SourceFile } from '../project.ts'

export function readMarks(program: Program, file: SourceFile, decorators: readonly DecoratorSyntax[]): Mark[] {
  return decorators.flatMap((decorator) => {
    const name = program.sdkDecorator(file, decorator)
    if (name === undefined) return []
    const { place, isCalled } = decorator
    return [{ name, place, isCalled, arguments: decorator.arguments.map((part) => program.evaluate(file, part)) }]
  })
}
