/** A constructor parameter's class is its dependency (contract 2.2). */
import type { Dependency } from '../declaration.ts'
import type { Program } from '../program.ts'
import type { ParameterSyntax, SourceFile } from '../project.ts'

export function readDependencies(
  program: Program,
  file: SourceFile,
  parameters: readonly ParameterSyntax[],
): Dependency[] {
  return parameters.map(({ name, place, type, typeName }) => {
    const meaning = typeName === undefined ? undefined : program.meaningOf(file, typeName)
    return { parameter: name, place, type, target: meaning?.kind === 'class' ? meaning.id : undefined }
  })
}
