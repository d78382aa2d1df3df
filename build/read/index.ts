/** Syntax to declarations: collects every class that carries a decorator of the SDK, and judges nothing. */
import type { ClassDeclaration, Declarations } from '../declaration.ts'
import type { Program } from '../program.ts'
import type { ClassSyntax, SourceFile } from '../project.ts'
import { readDependencies } from './container.ts'
import { readMarks } from './marks.ts'
import { readMembers } from './routes.ts'

/** @param entry the file that exports the root module, relative to the project. */
export function read(program: Program, entry: string): Declarations {
  const files = [...program.files.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  return {
    entry,
    classes: files.flatMap((file) => file.classes.map((syntax) => readClass(program, file, syntax))),
    syntaxErrors: files.flatMap(({ errors }) => errors),
  }
}

function readClass(program: Program, file: SourceFile, syntax: ClassSyntax): ClassDeclaration {
  const name = syntax.name ?? 'default'
  const exportName = [...file.exports].find(
    ([exported, source]) => exported !== 'default' && 'local' in source && source.local === syntax.name,
  )?.[0]
  return {
    id: `${file.path}#${name}`,
    name,
    file: file.path,
    place: syntax.place,
    exportName,
    isDefaultExport: syntax.isDefaultExport || isDefault(file, syntax),
    isAbstract: syntax.isAbstract,
    marks: readMarks(program, file, syntax.decorators),
    dependencies: readDependencies(program, file, syntax),
    members: readMembers(program, file, syntax.members),
  }
}

/** `export default X` below the class does the same as `export default class X`. */
function isDefault(file: SourceFile, { name }: ClassSyntax): boolean {
  const source = file.exports.get('default')
  return source !== undefined && 'local' in source && source.local === name
}
