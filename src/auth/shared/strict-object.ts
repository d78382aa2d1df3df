import * as v from 'valibot'

/** A JSON object with these fields and no others. */
export function strictObject<const T extends v.ObjectEntries>(entries: T): v.StrictObjectSchema<T, undefined> {
  return withoutLists(v.strictObject(entries))
}

/**
 * valibot takes `[]` for an object without fields, so that a request whose fields are all optional would act on a body that its client
 * wrote wrong.
 *
 * @param schema of an object or a record. @returns the same schema, which refuses lists now.
 */
export function withoutLists<T extends v.GenericSchema>(schema: T): T {
  const run = schema['~run'].bind(schema)
  const withoutList: typeof run = (dataset, config) => {
    if (!Array.isArray(dataset.value)) return run(dataset, config)
    v._addIssue(schema as never, 'type', dataset, config)
    return dataset as unknown as ReturnType<typeof run>
  }
  return Object.assign(schema, { '~run': withoutList })
}
