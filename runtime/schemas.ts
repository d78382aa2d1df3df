/** Schemas of request data: objects that implement Standard Schema (standardschema.dev), bound at build. */
import type { StandardSchema } from '../src/sdk/schema.ts'
import type { FieldError } from '../src/wire/envelope.ts'

export type Validate = (value: unknown) => Promise<{ value: unknown } | { fields: FieldError[] }>

/**
 * A schema, the parameter that it belongs to (like `@Body() of OrdersController.create`), and the name of the whole value in
 * messages. Where `isNamed` is set, the paths of violations begin with that name.
 */
export type BoundSchema = readonly [schema: unknown, what: string, whole: string, isNamed?: boolean]

/** @throws TypeError for a value that is not a Standard Schema: the worker does not start. */
export function createValidators(schemas: readonly BoundSchema[]): Validate[] {
  return schemas.map(([schema, what, whole, isNamed = false]) => {
    if (!isSchema(schema)) throw new TypeError(`${what} is given something that is no Standard Schema`)
    return async (value) => {
      const result = await schema['~standard'].validate(value)
      if (!result.issues) return { value: result.value }
      return {
        fields: result.issues.map(({ path = [], message }) => ({
          // Array.from, because map() on arktype's list would return a list of its own class
          path: shortened(Array.from(isNamed ? [whole, ...path] : path, keyOf).join('.')) || whole,
          reason: shortened(message),
        })),
      }
    }
  })
}

function keyOf(part: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof part === 'object' ? part.key : part)
}

/** Cuts a text that may quote the client's input to 200 characters, so that a long input does not come back whole. */
export function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

function isSchema(value: unknown): value is StandardSchema {
  const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (!isHolder || !('~standard' in value)) return false
  const standard = value['~standard']
  return typeof standard === 'object' && standard !== null && 'validate' in standard
}
