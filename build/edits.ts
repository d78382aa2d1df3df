/** Fixes that are exact, as edits of the source: what `stack build --fix` applies. Pure. */
import path from 'node:path'
import type { Application } from './application.ts'
import { type ClassDeclaration, markOf, option, type Place, sdkName } from './declaration.ts'
import type { Edit } from './refusals/index.ts'

export function insertion(file: string, at: number, text: string): Edit {
  return { place: { file, start: at, end: at }, text }
}

/** How a file calls something of the SDK: as it imports it, or by its own name and with the edits that import it. */
export function sdkNameIn({ declarations }: Application, file: string, name: string): Named | undefined {
  const imports = declarations.imports.find((one) => one.file === file)
  if (!imports) return undefined
  const known = imports.names.find((one) => one.from === sdkName && one.name === name)
  if (known) return { name: known.local, edits: [] }
  if (imports.taken.includes(name)) return undefined // it means something else here
  const named = imports.named.find(({ from }) => from === sdkName)
  const edit = named ? insertion(file, named.lastName, `, ${name}`) : importLine(file, imports.end, name, sdkName)
  return { name, edits: [edit] }
}

interface Named {
  name: string
  edits: Edit[]
}

/** The same for a class of the project. */
function classNameIn({ declarations }: Application, file: string, declaration: ClassDeclaration): Named | undefined {
  const { name, exportName, file: from } = declaration
  const imports = declarations.imports.find((one) => one.file === file)
  if (!imports) return undefined
  if (from === file) return { name, edits: [] }
  if (exportName === undefined || imports.taken.includes(exportName)) return undefined
  const relative = path.posix.relative(path.posix.dirname(file), from)
  const specifier = relative.startsWith('.') ? relative : `./${relative}`
  return { name: exportName, edits: [importLine(file, imports.end, exportName, styled(specifier, imports.relative))] }
}

function importLine(file: string, end: number, name: string, from: string): Edit {
  const line = `import { ${name} } from '${from}'`
  return insertion(file, end, end === 0 ? `${line}\n` : `\n${line}`)
}

/** The extension as the file's other imports write it. */
function styled(specifier: string, others: readonly string[]): string {
  const stem = specifier.replace(/\.tsx?$/, '')
  if (others.some((other) => /\.tsx?$/.test(other))) return specifier
  return others.some((other) => other.endsWith('.js')) ? `${stem}.js` : stem
}

/** Adds a class to a list of a module; none where the list is not written there, item by item. */
export function listing(
  application: Application,
  module: ClassDeclaration,
  list: string,
  added: ClassDeclaration,
): Edit[] {
  const mark = markOf(module, 'Module')
  const { file } = module
  const named = classNameIn(application, file, added)
  if (!named || !mark?.isCalled) return []
  const { name, edits } = named
  const [record] = mark.arguments
  if (!record) return [...edits, insertion(file, mark.place.end - 1, `{ ${list}: [${name}] }`)]
  if (record.kind !== 'record' || record.isElsewhere) return []
  const fact = option(record, list)
  if (fact) {
    if (fact.kind !== 'list' || fact.isElsewhere || fact.items.some(({ isElsewhere }) => isElsewhere)) return []
    const last = fact.items.at(-1)
    return [...edits, last ? insertion(file, last.place.end, `, ${name}`) : insertion(file, fact.place.end - 1, name)]
  }
  const last = record.entries.at(-1)
  if (!last) return [...edits, { place: record.place, text: `{ ${list}: [${name}] }` }]
  const isPlain = last.value.place.file === file && !last.value.isElsewhere
  return isPlain ? [...edits, insertion(file, last.value.place.end, `, ${list}: [${name}]`)] : []
}

/** Another decorator of the SDK in the place of one that takes no arguments. */
export function renamed(application: Application, place: Place, name: string): Edit[] {
  const named = sdkNameIn(application, place.file, name)
  return named ? [...named.edits, { place, text: `@${named.name}()` }] : []
}
