/**
 * Exports the schemas of request data from their files. Each is evaluated at the end of its file, where all names that its
 * decorator used are in scope.
 */
import type { BoundSchema } from '../link/schemas.ts'

export function schemaName(index: number): string {
  return `stack$schema${index}`
}

/** Code to append to a file. It stands below the last line, so that no line moves. */
export function schemaExports(text: string, file: string, schemas: readonly BoundSchema[]): string {
  return schemas
    .map(({ place }, index) =>
      place.file === file ? `\nexport const ${schemaName(index)} = () => (${text.slice(place.start, place.end)})` : '',
    )
    .join('')
}
