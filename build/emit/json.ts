/** JSON Schemas as plain objects, and references between those of one OpenAPI document. */
export type Json = Record<string, unknown>

/** Where an OpenAPI document keeps the schemas that others refer to. */
export const componentPrefix = '#/components/schemas/'
