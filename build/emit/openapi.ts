/** `.stack/openapi.json`: the route table as OpenAPI 3.1 (spec.openapis.org/oas/v3.1.1). Pure. */
import type { Parameter, Route, RouteTable } from '../../runtime/table.ts'
import { errorCodes } from '../../src/wire/envelope.ts'
import type { JsonSchemas } from './json-schemas.ts'
import { describeGate } from './report.ts'

type Json = Record<string, unknown>

/** One line for each path: what changed in a route is one line of a diff. Each is made text at once: together they are large. */
export function openapiText(
  { routes, webhooks, container }: RouteTable,
  jsonSchemas: JsonSchemas,
  title: string,
): string {
  const paths = new Map<string, string[]>()
  const add = (path: string, method: string, described: Json) => {
    paths.set(path, [...(paths.get(path) ?? []), `"${method}": ${JSON.stringify(described)}`])
  }
  const byShape = new Map<string, string>()
  const ids = new Set<string>()
  const definitions: Record<string, unknown> = {}
  const schemas = jsonSchemas.map((schema, index) => schema && hoisted(schema, `Schema${index}`, definitions))
  for (const route of routes) {
    const shape = route.path.replace(/:[^/]+/g, ':')
    const template = byShape.get(shape) ?? route.path
    byShape.set(shape, template) // two names for one parameter would be two paths
    const controller = container[route.controller]!.class
    const operationId = unique(`${controller}_${route.handler}`, ids)
    const described = operation(route, template, operationId, controller, schemas)
    add(template.replace(/:([^/]+)/g, '{$1}'), route.method.toLowerCase(), described)
  }
  for (const { name, class: receiver, events } of webhooks) {
    add(`/webhooks/${name}`, 'post', {
      operationId: unique(receiver, ids),
      tags: ['webhooks'],
      summary: `Deliveries: ${events.map(({ key }) => key).join(', ')}`,
      requestBody: { required: true, content: { 'application/json': {} } },
      responses: { 200: { description: 'handled, or of no interest' }, default: failure },
    })
  }
  const lines = [...paths].map(([path, operations]) => `    ${JSON.stringify(path)}: { ${operations.join(', ')} }`)
  const error = { description: 'The error envelope.', content: { 'application/json': { schema: envelope } } }
  const components = {
    responses: { Error: error },
    ...(Object.keys(definitions).length > 0 ? { schemas: definitions } : {}),
    securitySchemes: { bearer },
  }
  return `{
  "openapi": "3.1.1",
  "info": ${JSON.stringify({ title, version: '0.0.0' })},
  "paths": {${lines.length > 0 ? `\n${lines.join(',\n')}\n  ` : ''}},
  "components": ${JSON.stringify(components)}
}
`
}

function unique(name: string, taken: Set<string>): string {
  let free = name
  for (let count = 2; taken.has(free); count++) free = `${name}_${count}`
  taken.add(free)
  return free
}

/** A schema refers to its own root and to its own definitions; inside of this document both are somewhere else. */
function hoisted(schema: Json, id: string, definitions: Record<string, unknown>): Json {
  const { $schema: _dialect, $defs, ...own } = schema
  if (!JSON.stringify(schema).includes('"$ref"')) return own
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, key === '$ref' ? referred(String(inner), id) : moved(inner)]),
    )
  }
  for (const [name, definition] of Object.entries(($defs ?? {}) as Json))
    definitions[named(id, name)] = moved(definition)
  definitions[id] = moved(own)
  return definitions[id] as Json
}

function referred(reference: string, id: string): string {
  if (reference === '#') return `#/components/schemas/${id}`
  const [, name] = /^#\/\$defs\/([^/]+)$/.exec(reference) ?? []
  return name === undefined ? reference : `#/components/schemas/${named(id, name)}`
}

/** Only what a component may be called. */
function named(id: string, name: string): string {
  return `${id}.${name.replace(/[^A-Za-z0-9._-]/g, '_')}`
}

const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }

const failure = { $ref: '#/components/responses/Error' }

const envelope = {
  type: 'object',
  required: ['error', 'error_description', 'status', 'request_id'],
  properties: {
    error: {
      type: 'string',
      description: `A code: ${Object.keys(errorCodes).join(', ')}, or one of the project's own.`,
    },
    error_description: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    request_id: { type: 'string' },
    fields: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'reason'],
        properties: { path: { type: 'string' }, reason: { type: 'string' } },
      },
    },
  },
}

/** @param template the path under whose parameter names it is listed. */
function operation(route: Route, template: string, operationId: string, tag: string, schemas: JsonSchemas): Json {
  const { gate, status, parameters } = route
  const names = [...template.matchAll(/:([^/]+)/g)].map(([, name]) => name!)
  const schemaOf = (parameter: Parameter) =>
    'schema' in parameter && parameter.schema !== undefined ? schemas[parameter.schema] : undefined
  const listed = new Map<string, Json>()
  for (const parameter of parameters) {
    const known = parameter.from === 'param' ? { ...parameter, name: names[parameter.position]! } : parameter
    for (const one of parametersOf(known, schemaOf(parameter))) {
      const key = `${one['in']} ${one['name']}`
      if (!listed.has(key)) listed.set(key, one)
    }
  }
  for (const name of names) {
    const unread = { name, in: 'path', required: true, schema: { type: 'string' } }
    if (!listed.has(`path ${name}`)) listed.set(`path ${name}`, unread)
  }
  const body = parameters.find(({ from }) => from === 'body')
  const takesCaller = parameters.some(({ from }) => from === 'optionalUser')
  return {
    operationId,
    tags: [tag],
    description: `Admits: ${describeGate(gate)}.`,
    security: gate.required ? [{ bearer: [] }] : takesCaller ? [{}, { bearer: [] }] : [],
    ...(listed.size > 0 ? { parameters: [...listed.values()] } : {}),
    ...(body ? { requestBody: { required: true, content: { 'application/json': withSchema(schemaOf(body)) } } } : {}),
    responses: {
      [status]: { description: 'The result, as JSON; 204 where there is none.', content: { 'application/json': {} } },
      default: failure,
    },
  }
}

function withSchema(schema: Json | undefined): Json {
  return schema ? { schema } : {}
}

function parametersOf(parameter: Parameter, schema: Json | undefined): Json[] {
  const own = schema ?? { type: 'string' }
  switch (parameter.from) {
    case 'param':
      return [{ name: parameter.name, in: 'path', required: true, schema: own }]
    case 'query':
      return [{ name: parameter.name, in: 'query', schema: own }]
    case 'header':
      return /^(?:accept|content-type|authorization)$/i.test(parameter.name)
        ? [] // said by other means, and ignored here (OpenAPI 3.1, "Parameter Object")
        : [{ name: parameter.name, in: 'header', schema: own }]
    case 'wholeQuery': {
      const properties = Object.entries((schema?.['properties'] ?? {}) as Record<string, Json>)
      const required = (schema?.['required'] ?? []) as string[]
      return properties.map(([name, property]) => ({
        name,
        in: 'query',
        ...(required.includes(name) ? { required: true } : {}),
        schema: property,
      }))
    }
    default:
      return []
  }
}
