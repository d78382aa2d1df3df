/** Syntax to declarations: collects every class, and every decorator of the SDK wherever it stands; judges nothing. */
import { type ClassDeclaration, type Declarations, decoratorNames } from '../declaration.ts'
import type { Program } from '../program.ts'
import type { ClassSyntax, SourceFile } from '../project.ts'
import { readConstructor } from './container.ts'
import { readMarks } from './marks.ts'
import { readMembers } from './routes.ts'

/** @param entry the file that exports the root module, relative to the project. */
export function read(program: Program, entry: string): Declarations {
  const files = new Set<string>()
  const declarations: Declarations = {
    entry,
    files,
    classes: [],
    lostImports: [],
    strayMarks: [],
    markValues: [],
    unimported: [],
    syntaxErrors: [],
  }
  // reading a file may lead to another, outside the entry's folder: a Map also visits what is added meanwhile
  for (const file of program.files.values()) {
    files.add(file.path)
    declarations.classes.push(...file.classes.map((syntax) => readClass(program, file, syntax)))
    const lost = file.needs.filter(({ from }) => !program.leadsToFile(file, from))
    declarations.lostImports.push(...lost.map(({ from, place }) => ({ specifier: from, place })))
    const stray = file.decorators.filter((decorator) => !file.placed.has(decorator))
    declarations.strayMarks.push(...readMarks(program, file, stray))
    declarations.markValues.push(...readMarkValues(program, file))
    declarations.unimported.push(
      ...file.decorators.flatMap(({ callee, place }) =>
        callee.kind === 'name' && decoratorNames.has(callee.name) && !isKnown(file, callee.name)
          ? [{ name: callee.name, place }]
          : [],
      ),
    )
    declarations.syntaxErrors.push(...file.errors.slice(0, 1)) // the others mostly follow from the first
  }
  declarations.classes.sort((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1))
  return declarations
}

function readClass(program: Program, file: SourceFile, syntax: ClassSyntax): ClassDeclaration {
  const name = syntax.name ?? 'default'
  const exportName = [...file.exports].find(
    ([exported, source]) =>
      exported !== 'default' && !source.isTypeOnly && 'local' in source && source.local === syntax.name,
  )?.[0]
  const { dependencies, unknownBase } = readConstructor(program, file, syntax)
  return {
    id: `${file.path}#${name}`,
    name,
    file: file.path,
    place: syntax.place,
    exportName,
    isDefaultExport: syntax.isDefaultExport || (exportName === undefined && isDefault(file, syntax)),
    isAbstract: syntax.isAbstract,
    marks: readMarks(program, file, syntax.decorators),
    dependencies,
    unknownBase,
    members: readMembers(program, file, syntax.members),
    memberNames: syntax.memberNames,
  }
}

function isKnown({ imports, constants, declared, classes }: SourceFile, name: string): boolean {
  return imports.has(name) || constants.has(name) || declared.has(name) || classes.some((one) => one.name === name)
}

/** `export default X` below the class does the same as `export default class X`. */
function isDefault(file: SourceFile, { name }: ClassSyntax): boolean {
  const source = file.exports.get('default')
  return source !== undefined && 'local' in source && source.local === name
}

/** A decorator in a variable or behind a function would be executed instead of read. */
function readMarkValues(program: Program, file: SourceFile): Declarations['markValues'] {
  return file.uses.flatMap(({ expression, place }) => {
    const meaning = program.meaningOfExpression(file, expression)
    return meaning?.kind === 'sdk' && decoratorNames.has(meaning.name) ? [{ name: meaning.name, place }] : []
  })
}
