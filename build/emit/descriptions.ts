/** What requests hold and what handlers give back, as JSON Schema: what the OpenAPI document and the client are both made of. Pure. */
import type { Linked } from '../link/index.ts'
import type { HandlerTypes } from './answers.ts'
import type { Json, SchemaFacts } from './json-schemas.ts'

export interface Descriptions {
  /** What schemas take, by index in the table; `undefined` where it is not known. */
  inputs: (Json | undefined)[]
  /** By the same index: the parameter need not be there. */
  isOptional: boolean[]
  /** Types of bodies without a schema, by route. */
  bodies: (Json | undefined)[]
  answers: HandlerTypes['answers']
  /** What `#/components/schemas/…` in all of these refers to, by name. */
  definitions: Record<string, Json>
}

/** @param readTypes asks the type checker; it is told which names are taken. */
export function describe(
  { schemas }: Linked,
  facts: readonly (SchemaFacts | undefined)[],
  readTypes: (asked: ReadonlySet<number>, taken: readonly string[]) => HandlerTypes,
): Descriptions & Pick<HandlerTypes, 'files'> {
  const definitions: Record<string, Json> = {}
  const said = schemas.map((_, index) => {
    const input = facts[index]?.input
    return input && hoisted(input, `Schema${index}`, definitions)
  })
  const asked = new Set(schemas.flatMap((_, index) => (said[index] ? [] : [index])))
  const types = readTypes(asked, [...reservedNames, ...Object.keys(definitions)])
  return {
    inputs: said.map((schema, index) => schema ?? types.inputs[index]),
    isOptional: schemas.map((_, index) => facts[index]?.isOptional ?? true),
    bodies: types.bodies,
    answers: types.answers,
    definitions: { ...definitions, ...types.definitions },
    files: types.files,
  }
}

/** Names that `client.d.ts` uses itself. */
const reservedNames =
  'AbortSignal Client ClientError ClientOptions Error Promise Record Request Value createClient fetch'.split(' ')

/** A schema refers to its own root and to its own definitions; both are components of the document. */
function hoisted({ $schema: _dialect, $defs, ...own }: Json, id: string, definitions: Record<string, Json>): Json {
  const isRecursive = JSON.stringify([own, $defs]).includes('"$ref"')
  if (!isRecursive) return own
  const names = new Map([['#', id]])
  // numbered: some libraries count on from one build to the next
  for (const [index, name] of Object.keys($defs ?? {}).entries())
    names.set(`#/$defs/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, `${id}_${index + 1}`)
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        if (key !== '$ref' || typeof inner !== 'string') return [key, moved(inner)]
        const name = names.get(inner) ?? names.get(decodeURIComponent(inner))
        return [key, name === undefined ? inner : `${prefix}${name}`]
      }),
    )
  }
  for (const [index, definition] of Object.values($defs ?? {}).entries())
    definitions[`${id}_${index + 1}`] = moved(definition) as Json
  const root = moved(own) as Json
  if (!JSON.stringify([root, definitions]).includes(`"${prefix}${id}"`)) return root
  definitions[id] = root
  return { $ref: `${prefix}${id}` }
}

export const prefix = '#/components/schemas/'

export interface QueryMember {
  schema: Json
  isRequired: boolean
}

/** Properties of the object that a whole query is; of a union, of all its members. */
export function membersOf(schema: Json, definitions: Record<string, Json>, depth = 0): Map<string, QueryMember> {
  const members = new Map<string, QueryMember>()
  if (depth > 8) return members
  const { $ref: to, properties, required, allOf } = schema
  const target = typeof to === 'string' ? definitions[to.slice(prefix.length)] : undefined
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
