/** `.stack/openapi.json`: the route table as OpenAPI 3.1 (spec.openapis.org/oas/v3.1.1). Pure. */
import type { Parameter, Route, RouteTable } from '../../runtime/table.ts'
import { errorCodes } from '../../src/wire/envelope.ts'
import type { JsonSchemas } from './json-schemas.ts'
import { describeGate } from './report.ts'

type Json = Record<string, unknown>

function openapi({ routes, webhooks, container }: RouteTable, schemas: JsonSchemas, title: string): Json {
  const paths: Record<string, Json> = {}
  const ids = new Map<string, number>()
  for (const route of routes) {
    const path = route.path.replace(/:([^/]+)/g, '{$1}')
    const controller = container[route.controller]!.class
    const name = `${controller}_${route.handler}`
    const count = (ids.get(name) ?? 0) + 1
    ids.set(name, count)
    const operationId = count === 1 ? name : `${name}_${count}`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, operationId, controller, schemas) }
  }
  for (const { name, class: receiver, events } of webhooks) {
    paths[`/webhooks/${name}`] = {
      post: {
        operationId: receiver,
        tags: ['webhooks'],
        summary: `Deliveries: ${events.map(({ key }) => key).join(', ')}`,
        requestBody: { required: true, content: { 'application/json': {} } },
        responses: { 200: { description: 'handled, or of no interest' }, default: failure },
      },
    }
  }
  return {
    openapi: '3.1.1',
    info: { title, version: '0.0.0' },
    paths,
    components: {
      responses: {
        Error: { description: 'The error envelope.', content: { 'application/json': { schema: envelope } } },
      },
      securitySchemes: { bearer },
    },
  }
}

/** One line for each path: what changed in a route is one line of a diff. */
export function openapiText(table: RouteTable, schemas: JsonSchemas, title: string): string {
  const { paths, components, ...head } = openapi(table, schemas, title)
  const lines = Object.entries(paths as Record<string, Json>).map(
    ([path, operations]) => `    ${JSON.stringify(path)}: ${JSON.stringify(operations)}`,
  )
  const parts = [
    ...Object.entries(head).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`),
    lines.length > 0 ? `  "paths": {\n${lines.join(',\n')}\n  }` : '  "paths": {}',
    `  "components": ${JSON.stringify(components)}`,
  ]
  return `{\n${parts.join(',\n')}\n}\n`
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

function operation(route: Route, operationId: string, tag: string, schemas: JsonSchemas): Json {
  const { gate, status, parameters, path } = route
  const schemaOf = (parameter: Parameter) =>
    'schema' in parameter && parameter.schema !== undefined ? schemas[parameter.schema] : undefined
  const read = parameters.filter((one) => one.from === 'param').map(({ name }) => name)
  const unread = [...path.matchAll(/:([^/]+)/g)].map(([, name]) => name!).filter((name) => !read.includes(name))
  const listed = [
    ...parameters.flatMap((parameter) => parametersOf(parameter, schemaOf(parameter))),
    ...unread.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  ]
  const body = parameters.find(({ from }) => from === 'body')
  const takesCaller = parameters.some(({ from }) => from === 'optionalUser')
  return {
    operationId,
    tags: [tag],
    description: `Admits: ${describeGate(gate)}.`,
    security: gate.required ? [{ bearer: [] }] : takesCaller ? [{}, { bearer: [] }] : [],
    ...(listed.length > 0 ? { parameters: listed } : {}),
    ...(body ? { requestBody: { required: true, content: { 'application/json': withSchema(schemaOf(body)) } } } : {}),
    responses: {
      [status]: { description: 'The result, as JSON; 204 where there is none.', content: { 'application/json': {} } },
      default: failure,
    },
  }
}

function withSchema(schema: Json | undefined): Json {
  return schema ? { schema: withoutDialect(schema) } : {}
}

/** What OpenAPI 3.1 takes for granted. */
function withoutDialect({ $schema: _dialect, ...schema }: Json): Json {
  return schema
}

function parametersOf(parameter: Parameter, schema: Json | undefined): Json[] {
  const own = schema ? withoutDialect(schema) : { type: 'string' }
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
