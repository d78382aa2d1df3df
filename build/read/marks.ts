/** Decorators of the SDK, by what they are imported as: never by spelling. */
import type { ClassSyntax, DecoratorSyntax } from '../classes.ts'
import { decoratorNames, type ForeignMark, type Mark, sdkName } from '../declaration.ts'
import type { Expression } from '../expression.ts'
import type { Program } from '../program.ts'
import type { SourceFile } from '../project.ts'

export function readMarks(program: Program, file: SourceFile, decorators: readonly DecoratorSyntax[]): Mark[] {
  const marks: Mark[] = []
  for (const decorator of decorators) {
    const name = program.sdkDecorator(file, decorator)
    if (name === undefined) continue
    const { place, isCalled } = decorator
    const given = decorator.arguments.map((part, index) =>
      isSchemaArgument(name, index, part) ? program.shapeOf(file, part) : program.evaluate(file, part),
    )
    marks.push({ name, place, isCalled, arguments: given })
  }
  return marks
}

/** Where a schema may stand: what is written as a name there is one, or is not known. */
function isSchemaArgument(name: string, index: number, { kind }: Expression): boolean {
  if (name === 'Body' || (name === 'Query' && index === 0)) return index === 0 && kind !== 'literal'
  return index === 1 && (name === 'Param' || name === 'Query' || name === 'Header')
}

/** Decorators on a class and inside of it that bear the name of one of the SDK's and come from elsewhere. */
export function readForeignMarks(program: Program, file: SourceFile, syntax: ClassSyntax): ForeignMark[] {
  const classId = `${file.path}#${syntax.name ?? 'default'}`
  const read = (decorators: readonly DecoratorSyntax[], member?: string) =>
    decorators.flatMap(({ callee, place }): ForeignMark[] => {
      if (callee.kind !== 'name' || !decoratorNames.has(callee.name)) return []
      const origin = file.imports.get(callee.name)
      if (origin?.from === sdkName) return []
      const meaning = program.meaningOfExpression(file, callee)
      if (meaning?.kind === 'sdk') return []
      if (!origin && !file.declared.has(callee.name)) return [] // said as not imported
      const from = meaning?.kind === 'foreign' ? meaning.from : (origin?.from ?? 'this very file')
      return [{ classId, member, name: callee.name, from, isOfPackage: meaning?.kind === 'foreign', place }]
    })
  const inside = syntax.members.flatMap(({ name, decorators, parameters }) => [
    ...read(decorators, name),
    ...parameters.flatMap((parameter) => read(parameter.decorators, name)),
  ])
  return [...read(syntax.decorators), ...inside]
}
