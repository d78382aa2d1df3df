/**
 * Schemas of request data, reached from outside their files: each is evaluated at the end of the file it stands in, where
 * every name that its decorator saw is known, imported or not.
 */
import type { BoundSchema } from '../link/schemas.ts'

export function schemaName(index: number): string {
  return `stack$schema${index}`
}

/** Code to append to a file: below its last line, so that no line of it moves. */
export function schemaExports(text: string, file: string, schemas: readonly BoundSchema[]): string {
  return schemas
    .map(({ place }, index) =>
      place.file === file ? `\nexport const ${schemaName(index)} = () => (${text.slice(place.start, place.end)})` : '',
    )
    .join('')
}
