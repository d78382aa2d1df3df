/** Makes the edits of exact fixes, which `stack build --fix` applies. Pure. */
import type { Application } from './application.ts'
import { sdkName } from './declaration.ts'
import type { Edit } from './refusals/index.ts'

export function insertion(file: string, at: number, text: string): Edit {
  return { place: { file, start: at, end: at }, text }
}

/** The name by which a file can use an export of the SDK, with the edits that import it where it is not imported yet. */
export function sdkNameIn({ declarations }: Application, file: string, name: string): Named | undefined {
  const imports = declarations.imports.find((one) => one.file === file)
  if (!imports) return undefined
  const known = imports.names.find((one) => one.from === sdkName && one.name === name)
  if (known) return { name: known.local, edits: [] }
  if (imports.taken.includes(name)) return undefined // The name has another meaning in this file.
  const named = imports.named.find(({ from }) => from === sdkName)
  const edit = named ? insertion(file, named.lastName, `, ${name}`) : importLine(file, imports.end, name, sdkName)
  return { name, edits: [edit] }
}

interface Named {
  name: string
  edits: Edit[]
}

function importLine(file: string, end: number, name: string, from: string): Edit {
  const line = `import { ${name} } from '${from}'`
  return insertion(file, end, end === 0 ? `${line}\n` : `\n${line}`)
}
