/** A constructor parameter's class is its dependency (contract 2.2); a class without a constructor has its base's. */
import type { Dependency } from '../declaration.ts'
import type { Program } from '../program.ts'
import type { ClassSyntax, SourceFile } from '../project.ts'

export function readDependencies(program: Program, file: SourceFile, syntax: ClassSyntax): Dependency[] {
  if (syntax.constructorParameters) {
    return syntax.constructorParameters.map(({ name, place, type, typeName }) => {
      const meaning = typeName === undefined ? undefined : program.meaningOf(file, typeName)
      return { parameter: name, place, type, target: meaning?.kind === 'class' ? meaning.id : undefined }
    })
  }
  const base = syntax.base === undefined ? undefined : program.meaningOf(file, syntax.base)
  if (base?.kind !== 'class') return []
  const [path, name] = base.id.split('#') as [string, string]
  const baseFile = program.files.get(path)
  const baseSyntax = baseFile?.classes.find((candidate) => candidate.name === name)
  if (!baseFile || !baseSyntax || baseSyntax === syntax) return []
  // the refusal points at the class that cannot be built, not at its base
  return readDependencies(program, baseFile, baseSyntax).map((dependency) => ({ ...dependency, place: syntax.place }))
}
