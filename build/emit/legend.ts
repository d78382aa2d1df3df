/** Writes the comment at the top of worker.js: the parts of the generated code, and the files of the project in them. Pure. */
import type { Linked } from '../link/index.ts'

/** Largest number of files that the legend lists. The legend counts towards the size of the worker. */
const mostFiles = 100

/** @param entry the file that exports the root module, relative to the project. @returns whole lines. */
export function legend({ classes, schemas, routes, table }: Linked, entry: string): string {
  const files = new Map<string, { classes: string[]; schemas: number }>()
  const partsOf = (file: string) => {
    const parts = files.get(file) ?? { classes: [], schemas: 0 }
    files.set(file, parts)
    return parts
  }
  for (const { file, name } of classes) partsOf(file).classes.push(name)
  for (const { place } of schemas) partsOf(place.file).schemas++
  const rows = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, parts]) => {
      const described = parts.schemas > 0 ? [...parts.classes, count(parts.schemas, 'schema')] : parts.classes
      return `  ${file}: ${described.join(', ')}`
    })
  const lines = [
    `Written by "stack build" from ${entry}. worker.js.map leads from this file to the sources.`,
    '',
    'The runtime comes first, then the modules of the project, and the generated code last:',
    `  match: finds the route of a method and a path, for ${count(routes.length, 'route')}`,
    `  builders: construct the classes at their first use, ${count(classes.length, 'class', 'classes')}`,
    `  schemas: check the parameters of handlers, ${count(schemas.length, 'schema')}`,
    `  table: gates, parameters and ${count(table.webhooks.length, 'webhook')}, as in table.json`,
    '',
    'The classes and schemas come from these files:',
    ...rows.slice(0, mostFiles),
    ...(rows.length > mostFiles ? [`  and ${count(rows.length - mostFiles, 'more file')}`] : []),
  ]
  return `/*\n${lines.map((line) => ` * ${commentText(line)}`.trimEnd()).join('\n')}\n */\n`
}

/** A file's name may contain any character. Neither the end of the comment nor a line break may stand in it. */
function commentText(text: string): string {
  return text.replaceAll('*/', '* /').replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
