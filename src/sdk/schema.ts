/** Standard Schema, version 1 (standardschema.dev), as far as the injectors use it. */

/**
 * A schema of zod, valibot, arktype or another library that implements Standard Schema. `@Body`, `@Param`, `@Query` and
 * `@Header` take one (contract 2.8).
 *
 * @example
 * ```ts
 * import * as v from 'valibot'
 *
 * const schema: StandardSchema = v.object({ sku: v.string() })
 * ```
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The member by which libraries of the standard recognise a schema. */
  readonly '~standard': {
    /** The version of the standard. */
    readonly version: 1
    /** The name of the library. */
    readonly vendor: string
    /** Checks a value. `issues` says what is wrong with it. Without issues, `value` is the output. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    /** Carries the types of input and output for TypeScript. It has no value at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}
