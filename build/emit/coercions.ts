/** Finds how text of a URL or a header is converted to the type that its schema takes, and adds it to the table. Pure. */
import type { Coercion, Parameter, TextForm } from '../../runtime/table.ts'
import type { Linked } from '../link/index.ts'
import type { Json } from './json.ts'
import type { EvaluatedSchema } from './json-schemas.ts'

/** The same table, with the conversions of its parameters. */
export function withCoercions(linked: Linked, facts: readonly (EvaluatedSchema | undefined)[]): Linked {
  const coerced = (parameter: Parameter): Parameter => {
    const known = 'schema' in parameter && parameter.schema !== undefined ? facts[parameter.schema] : undefined
    if (!known?.input) return parameter
    if (parameter.from === 'wholeQuery') {
      const coerce = memberCoercions(known.input, known)
      return coerce ? { ...parameter, coerce } : parameter
    }
    if (parameter.from !== 'param' && parameter.from !== 'query' && parameter.from !== 'header') return parameter
    const coerce = coercionOf(formsOf(known.input, '', known))
    return coerce ? { ...parameter, coerce } : parameter
  }
  const routes = linked.table.routes.map((route) => ({ ...route, parameters: route.parameters.map(coerced) }))
  return { ...linked, table: { ...linked.table, routes } }
}

/** The forms of a schema's input for which text can stand. */
interface Forms {
  /** The schema takes text as it is. */
  isText: boolean
  one: Set<TextForm>
  list: Forms | undefined
}

const nothing = (): Forms => ({ isText: false, one: new Set(), list: undefined })
const anything = (): Forms => ({ ...nothing(), isText: true })

/** Largest depth to which references are followed, because a schema may refer to itself. */
const deepest = 16

function formsOf(schema: unknown, at: string, facts: EvaluatedSchema, depth = 0): Forms {
  if (facts.opaque.has(at) || depth > deepest || typeof schema !== 'object' || schema === null) return anything()
  const { $ref: to, anyOf, oneOf, allOf, type, enum: values, items, ...own } = schema as Json
  if (typeof to === 'string') {
    const found = resolved(to, facts.input!)
    return found ? formsOf(found.schema, found.at, facts, depth + 1) : anything()
  }
  const types = Array.isArray(type)
    ? type
    : type === undefined
      ? typesOf(values ?? ('const' in own ? [own['const']] : []))
      : [type]
  if (types.length > 0) {
    return merged(types.map((one) => (one === 'array' ? listForms(items, at, facts, depth) : simpleForms(one))))
  }
  for (const [key, branches] of Object.entries({ anyOf, oneOf, allOf })) {
    if (!Array.isArray(branches)) continue
    const found = branches.map((branch, index) => formsOf(branch, `${at}/${key}/${index}`, facts, depth + 1))
    // Every schema of `allOf` restricts the value. A schema without a type restricts no form.
    const telling = key === 'allOf' ? found.filter(({ one, list }) => one.size > 0 || list) : found
    return telling.length > 0 ? merged(telling) : anything()
  }
  return anything()
}

function simpleForms(type: unknown): Forms {
  if (type === 'string') return anything()
  if (type === 'number' || type === 'integer') return { ...nothing(), one: new Set(['number']) }
  if (type === 'boolean') return { ...nothing(), one: new Set(['boolean']) }
  return nothing() // No text stands for null or an object.
}

function listForms(items: unknown, at: string, facts: EvaluatedSchema, depth: number): Forms {
  return { ...nothing(), list: items === undefined ? anything() : formsOf(items, `${at}/items`, facts, depth + 1) }
}

function typesOf(values: unknown): string[] {
  if (!Array.isArray(values)) return []
  return [...new Set(values.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)))]
}

function merged(all: readonly Forms[]): Forms {
  const lists = all.flatMap(({ list }) => (list ? [list] : []))
  return {
    isText: all.some(({ isText }) => isText),
    one: new Set(all.flatMap(({ one }) => [...one])),
    list: lists.length > 0 ? merged(lists) : undefined,
  }
}

/** @returns `undefined` where the text stays as it is. */
function coercionOf({ isText, one, list }: Forms): Coercion | undefined {
  const forms = (from: Forms) => (from.isText ? [] : [...from.one].sort())
  const isSingle = isText || one.size > 0
  if (!list && (isText || one.size === 0)) return undefined
  return { ...(isSingle ? { one: forms({ isText, one, list }) } : {}), ...(list ? { list: forms(list) } : {}) }
}

/** The conversions of each property of a whole query. A union contributes the properties of all its members. */
function memberCoercions(
  schema: Json,
  facts: EvaluatedSchema,
): Extract<Parameter, { from: 'wholeQuery' }>['coerce'] | undefined {
  const found = new Map<string, Forms[]>()
  const rest: Forms[] = []
  const visit = (one: unknown, at: string, depth: number): void => {
    if (facts.opaque.has(at) || depth > deepest || typeof one !== 'object' || one === null) return
    const { $ref: to, properties, additionalProperties, ...own } = one as Json
    const target = typeof to === 'string' ? resolved(to, facts.input!) : undefined
    if (target) visit(target.schema, target.at, depth + 1)
    for (const [name, property] of Object.entries((properties ?? {}) as Json)) {
      const forms = formsOf(property, `${at}/properties/${pointer(name)}`, facts)
      found.set(name, [...(found.get(name) ?? []), forms])
    }
    if (typeof additionalProperties === 'object' && additionalProperties !== null)
      rest.push(formsOf(additionalProperties, `${at}/additionalProperties`, facts))
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const branches = own[key]
      if (!Array.isArray(branches)) continue
      for (const [index, branch] of branches.entries()) visit(branch, `${at}/${key}/${index}`, depth + 1)
    }
  }
  visit(schema, '', 0)
  const named = [...found].flatMap(([name, forms]): [string, Coercion][] => {
    const coercion = coercionOf(merged(forms))
    return coercion ? [[name, coercion]] : []
  })
  // A known name whose text stays as it is must not fall under the rest.
  const others = rest.length > 0 ? coercionOf(merged(rest)) : undefined
  const texts = others ? [...found.keys()].filter((name) => !named.some(([known]) => known === name)) : []
  const all = [...named, ...texts.map((name): [string, Coercion] => [name, { one: [] }])]
  if (all.length === 0 && !others) return undefined
  return { named: all, ...(others ? { rest: others } : {}) }
}

function pointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The schema that a reference leads to. Only references within the same document are followed. */
function resolved(to: string, root: Json): { schema: unknown; at: string } | undefined {
  if (to === '#') return { schema: root, at: '' }
  if (!to.startsWith('#/')) return undefined
  const at = decodeURIComponent(to.slice(1))
  let schema: unknown = root
  for (const key of at.slice(1).split('/')) {
    const own = key.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, own)) return undefined
    schema = (schema as Json)[own]
  }
  return { schema, at }
}
