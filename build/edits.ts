/** Fixes that are exact, as edits of the source: what `stack build --fix` applies. Pure. */
import path from 'node:path'
import type { Application } from './application.ts'
import { type ClassDeclaration, type Fact, markOf, option, type Place, sdkName } from './declaration.ts'
import type { Edit } from './refusals/index.ts'

export function insertion(file: string, at: number, text: string): Edit {
  return { place: { file, start: at, end: at }, text }
}

/** Makes the SDK's `name` known in a file. */
export function importOfSdk({ declarations }: Application, file: string, name: string): Edit[] {
  const imports = declarations.imports.find((one) => one.file === file)
  if (!imports || imports.names.includes(name)) return []
  const named = imports.named.find(({ from }) => from === sdkName)
  if (named) return [insertion(file, named.lastName, `, ${name}`)]
  return [importLine(file, imports.end, name, sdkName)]
}

/** Makes a class of the project known in a file. */
function importOfClass({ declarations }: Application, file: string, { name, file: from }: ClassDeclaration): Edit[] {
  const imports = declarations.imports.find((one) => one.file === file)
  if (!imports || from === file || imports.names.includes(name)) return []
  const relative = path.posix.relative(path.posix.dirname(file), from)
  const specifier = relative.startsWith('.') ? relative : `./${relative}`
  return [importLine(file, imports.end, name, styled(specifier, imports.relative))]
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

/** Adds a class to a list of a module; none where the list is not written there. */
export function listing(
  application: Application,
  module: ClassDeclaration,
  list: string,
  added: ClassDeclaration,
): Edit[] {
  const mark = markOf(module, 'Module')
  const record = mark?.arguments[0]
  const { file, name } = { file: module.file, name: added.name }
  const imports = importOfClass(application, file, added)
  const isWritten = (fact: Fact) => !('isElsewhere' in fact) && fact.place.file === file
  const fact = option(record, list)
  if (fact) {
    if (fact.kind !== 'list' || !isWritten(fact)) return []
    const last = fact.items.at(-1)
    const edit = last ? insertion(file, last.place.end, `, ${name}`) : insertion(file, fact.place.end - 1, name)
    return [...imports, edit]
  }
  if (!mark?.isCalled) return []
  if (!record) return [...imports, insertion(file, mark.place.end - 1, `{ ${list}: [${name}] }`)]
  if (record.kind !== 'record' || !isWritten(record)) return []
  const last = record.entries.at(-1)
  if (!last) return [...imports, { place: record.place, text: `{ ${list}: [${name}] }` }]
  return isWritten(last.value) ? [...imports, insertion(file, last.value.place.end, `, ${list}: [${name}]`)] : []
}

/** Another decorator of the SDK in the place of one that takes no arguments, under whatever name that was imported. */
export function renamed(application: Application, place: Place, name: string): Edit[] {
  const imports = application.declarations.imports.find((one) => one.file === place.file)
  if (!imports) return []
  return [...importOfSdk(application, place.file, name), { place, text: `@${name}()` }]
}
