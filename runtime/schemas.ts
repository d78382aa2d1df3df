/** Schemas of request data: whatever implements Standard Schema (standardschema.dev), bound at build. */
import type { StandardSchema } from '../src/sdk/schema.ts'
import type { FieldError } from '../src/wire/envelope.ts'

export type Validate = (value: unknown) => Promise<{ value: unknown } | { fields: FieldError[] }>

/**
 * A schema, and what it is given to: like `@Body() of OrdersController.create`. The value of a named parameter is called by its
 * name, and what is in it by name and path.
 */
export type BoundSchema = readonly [schema: unknown, what: string, whole: string, isNamed?: boolean]

/** @throws TypeError when one of them is none: the worker does not start. */
export function createValidators(schemas: readonly BoundSchema[]): Validate[] {
  return schemas.map(([schema, what, whole, isNamed = false]) => {
    if (!isSchema(schema)) throw new TypeError(`${what} is given something that is no Standard Schema`)
    return async (value) => {
      const result = await schema['~standard'].validate(value)
      if (!result.issues) return { value: result.value }
      return {
        fields: result.issues.map(({ path = [], message }) => ({
          // a library's own list may make another of its kind when it is mapped: arktype's does
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

/** What a client sent is quoted, up to 200 characters of it. */
export function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

function isSchema(value: unknown): value is StandardSchema {
  const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (!isHolder || !('~standard' in value)) return false
  const standard = value['~standard']
  return typeof standard === 'object' && standard !== null && 'validate' in standard
}
