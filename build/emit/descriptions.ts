/** Describes requests and results as JSON Schema. The OpenAPI document and the client are made of these descriptions. Pure. */
import type { Linked } from '../link/index.ts'
import type { Steps } from '../steps.ts'
import type { HandlerTypes, OpenedTypes } from './handler-types.ts'
import { componentPrefix, type Json } from './json.ts'
import type { EvaluatedSchema } from './json-schemas.ts'

export interface Descriptions {
  /** The input of each schema, by its index in the table. `undefined` where it is not known. */
  inputs: (Json | undefined)[]
  /** The schema takes `undefined`, so its parameter may be absent. By the schema's index. */
  isOptional: boolean[]
  /** Types of bodies without a schema, by route. */
  bodies: (Json | undefined)[]
  results: HandlerTypes['results']
  /** The components that all of these refer to, by name. */
  definitions: Record<string, Json>
}

/** A schema describes its own input where its library can. Otherwise the schema's type does. */
export function* describe(
  { schemas }: Linked,
  evaluated: readonly (EvaluatedSchema | undefined)[],
  opened: OpenedTypes,
): Steps<Descriptions & Pick<HandlerTypes, 'files'>> {
  const definitions: Record<string, Json> = {}
  const own = schemas.map((_, index) => {
    const input = evaluated[index]?.input
    return input && hoisted(input, `Schema${index}`, definitions)
  })
  const asked = new Set(schemas.flatMap((_, index) => (own[index] ? [] : [index])))
  const types = yield* opened.read(asked, [...reservedNames, ...Object.keys(definitions)])
  return {
    inputs: own.map((schema, index) => schema ?? types.inputs[index]),
    isOptional: schemas.map((_, index) => evaluated[index]?.isOptional ?? true),
    bodies: types.bodies,
    results: types.results,
    definitions: { ...definitions, ...types.definitions },
    files: types.files,
  }
}

/** Names that `client.d.ts` declares or uses itself. */
const reservedNames =
  'AbortSignal Client ClientError ClientOptions Error Promise Record Request Value createClient fetch'.split(' ')

/** Makes the definitions of a schema components of the document. So does it with its root, if the schema refers to it. */
function hoisted({ $schema: _dialect, $defs, ...own }: Json, id: string, definitions: Record<string, Json>): Json {
  const isRecursive = JSON.stringify([own, $defs]).includes('"$ref"')
  if (!isRecursive) return own
  const names = new Map([['#', id]])
  // Some libraries continue their numbering from one build to the next, so the names are replaced by indexes.
  for (const [index, name] of Object.keys($defs ?? {}).entries())
    names.set(`#/$defs/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, `${id}_${index + 1}`)
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        if (key !== '$ref' || typeof inner !== 'string') return [key, moved(inner)]
        const name = names.get(inner) ?? names.get(decodeURIComponent(inner))
        return [key, name === undefined ? inner : `${componentPrefix}${name}`]
      }),
    )
  }
  for (const [index, definition] of Object.values($defs ?? {}).entries())
    definitions[`${id}_${index + 1}`] = moved(definition) as Json
  const root = moved(own) as Json
  if (!JSON.stringify([root, definitions]).includes(`"${componentPrefix}${id}"`)) return root
  definitions[id] = root
  return { $ref: `${componentPrefix}${id}` }
}

export interface QueryMember {
  schema: Json
  isRequired: boolean
}

/** Properties of the object that a whole query is. A union contributes the properties of all its members. */
export function membersOf(schema: Json, definitions: Record<string, Json>, depth = 0): Map<string, QueryMember> {
  const members = new Map<string, QueryMember>()
  if (depth > 8) return members
  const { $ref: to, properties, required, allOf } = schema
  const target = typeof to === 'string' ? definitions[to.slice(componentPrefix.length)] : undefined
  const parts = [target, ...(Array.isArray(allOf) ? allOf : [])].filter((one) => one !== undefined) as Json[]
  for (const part of parts)
    for (const [name, member] of membersOf(part, definitions, depth + 1)) members.set(name, member)
  for (const [name, property] of Object.entries((properties ?? {}) as Record<string, Json>)) {
    members.set(name, { schema: property, isRequired: Array.isArray(required) && required.includes(name) })
  }
  const branches = (schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined
  const found = branches?.map((branch) => membersOf(branch, definitions, depth + 1)) ?? []
  for (const name of new Set(found.flatMap((one) => [...one.keys()]))) {
    const own = found.flatMap((one) => one.get(name) ?? [])
    const schemas = [...new Map(own.map((one) => [JSON.stringify(one.schema), one.schema])).values()]
    members.set(name, {
      schema: schemas.length === 1 ? schemas[0]! : { anyOf: schemas },
      isRequired: own.length === found.length && own.every(({ isRequired }) => isRequired),
    })
  }
  return members
}
