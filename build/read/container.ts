/** Reads the dependencies of a class from its constructor, or from its base where it has none (contract 2.2). */
import type { Dependency, Span } from '../declaration.ts'
import type { Program } from '../program.ts'
import type { ClassSyntax, SourceFile } from '../source-file.ts'

interface Constructor {
  dependencies: Dependency[]
  unknownBase: Span | undefined
}

export function readConstructor(
  program: Program,
  file: SourceFile,
  syntax: ClassSyntax,
  seen: readonly ClassSyntax[] = [],
): Constructor {
  if (syntax.constructorParameters) {
    const dependencies = syntax.constructorParameters.map(({ name, typePlace, type, typeName, isOptional }) => {
      const meaning = typeName === undefined ? undefined : program.meaningOf(file, typeName)
      return {
        parameter: name,
        place: typePlace,
        type,
        isOptional,
        target: meaning?.kind === 'class' ? meaning.id : undefined,
        isLost: meaning?.kind === 'foreign' && meaning.isLost,
      }
    })
    return { dependencies, unknownBase: undefined }
  }
  const { base } = syntax
  if (!base || seen.includes(syntax)) return { dependencies: [], unknownBase: undefined }
  const meaning = program.meaningOfExpression(file, base)
  if (meaning?.kind === 'class') {
    const baseFile = program.fileOf(meaning.id)
    const baseSyntax = baseFile?.classes.find((candidate) => meaning.id.endsWith(`#${candidate.name}`))
    if (baseFile && baseSyntax) {
      const inherited = readConstructor(program, baseFile, baseSyntax, [...seen, syntax])
      // a refusal points at the class that cannot be constructed instead of at its base
      const dependencies = inherited.dependencies.map((dependency) => ({ ...dependency, place: syntax.place }))
      return { dependencies, unknownBase: inherited.unknownBase && base.place }
    }
  }
  const isLost = meaning?.kind === 'foreign' && meaning.isLost // the import itself is refused
  return { dependencies: [], unknownBase: isLost || isForeign(file, base) ? undefined : base.place }
}

/** Whether a base is a global like `Error`, or of a package. A module cannot provide what its constructor takes. */
function isForeign(file: SourceFile, base: NonNullable<ClassSyntax['base']>): boolean {
  const name =
    base.kind === 'name' ? base.name : base.kind === 'member' && base.of.kind === 'name' ? base.of.name : undefined
  if (name === undefined) return false
  const origin = file.imports.get(name)
  if (origin) return !/^[./#@~]/.test(origin.from) || /^@[a-z0-9-]+\//.test(origin.from)
  return !file.constants.has(name) && base.kind === 'name'
}
