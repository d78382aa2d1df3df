/** Makes `.stack/openapi.json`: the route table as OpenAPI 3.1 (spec.openapis.org/oas/v3.1.1). Pure. */
import type { Parameter, Route, RouteTable } from '../../runtime/table.ts'
import { deviceAssertionHeader, longestAssertion } from '../../src/wire/device-assertion.ts'
import { errorCodes } from '../../src/wire/envelope.ts'
import { type Descriptions, membersOf } from './descriptions.ts'
import { componentPrefix, type Json } from './json.ts'
import { answersOf, envelopeName, type RecordedAnswer, type RecordedAnswers } from './openapi-answers.ts'
import { describeGate } from './report.ts'

/**
 * Writes each path on one line, so that a change of a route changes one line. Lines become text at once to save memory.
 * @param recorded answers of a run, which become examples.
 */
export function openapiText(
  { routes, webhooks, container }: RouteTable,
  descriptions: Descriptions,
  title: string,
  recorded: RecordedAnswers = {},
): string {
  const paths = new Map<string, string[]>()
  const add = (path: string, method: string, described: Json) => {
    paths.set(path, [...(paths.get(path) ?? []), `"${method}": ${JSON.stringify(described)}`])
  }
  const byShape = new Map<string, string>()
  const ids = new Set<string>()
  const { definitions } = descriptions
  for (const [index, route] of routes.entries()) {
    const shape = route.path.replace(/:[^/]+/g, ':')
    const template = byShape.get(shape) ?? route.path
    byShape.set(shape, template) // OpenAPI forbids two paths that differ only in a parameter's name.
    const controller = container[route.controller]!.class
    const operationId = unique(`${controller}_${route.handler}`, ids)
    const answers = recorded[`${route.method} ${route.path}`] ?? []
    const described = {
      operationId,
      tags: [controller],
      ...operation(route, index, template, descriptions, answers),
    }
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
  const schema = { $ref: componentPrefix + envelopeName }
  const error = { description: 'The error envelope.', content: { 'application/json': { schema } } }
  const components = {
    responses: { Error: error },
    schemas: { ...definitions, [envelopeName]: envelope },
    securitySchemes: { bearer, ...(routes.some(({ gate }) => gate.serviceRole) ? { serviceRole } : {}) },
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

/** Administers the whole stack, so it belongs on servers and never in an app. */
const serviceRole = { type: 'apiKey', in: 'header', name: 'apikey' }

const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }

/** The header by which a route with `device` knows the device. */
const deviceAssertion: Json = {
  name: deviceAssertionHeader,
  in: 'header',
  required: true,
  description: 'An attested device has signed this request: `v=1, k=…, t=…, n=…, apple=…` or `es256=…`.',
  schema: { type: 'string', maxLength: longestAssertion },
}

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

/** @param template the path whose parameter names the document uses. */
function operation(
  route: Route,
  index: number,
  template: string,
  descriptions: Descriptions,
  answers: readonly RecordedAnswer[],
): Json {
  const { gate, parameters } = route
  const names = [...template.matchAll(/:([^/]+)/g)].map(([, name]) => name!)
  const listed = new Map<string, Json>()
  for (const parameter of parameters) {
    const known = parameter.from === 'param' ? { ...parameter, name: names[parameter.position]! } : parameter
    for (const one of parametersOf(known, descriptions)) {
      const key = `${one['in']} ${one['name']}`
      if (!listed.has(key)) listed.set(key, one)
    }
  }
  for (const name of names) {
    const unread = { name, in: 'path', required: true, schema: { type: 'string' } }
    if (!listed.has(`path ${name}`)) listed.set(`path ${name}`, unread)
  }
  const named = new Set([...listed.keys()].map((key) => key.toLowerCase()))
  if (gate.device && !named.has(`header ${deviceAssertionHeader}`)) listed.set(deviceAssertionHeader, deviceAssertion)
  const body = parameters.find(({ from }) => from === 'body')
  const taken = body && (schemaOf(body, descriptions) ?? descriptions.bodies[index])
  const takesCaller = parameters.some(({ from }) => from === 'optionalUser')
  const [example] = answers.flatMap(({ status, request }) => (status < 400 && request !== undefined ? [request] : []))
  const content = { ...withSchema(taken), ...(example === undefined ? {} : { example }) }
  return {
    description: `Admits: ${describeGate(gate)}.`,
    security: securityOf(gate, takesCaller),
    ...(listed.size > 0 ? { parameters: [...listed.values()] } : {}),
    ...(body ? { requestBody: { required: true, content: { 'application/json': content } } } : {}),
    responses: { ...answersOf(route, descriptions.results[index], answers), default: failure },
  }
}

function securityOf({ serviceRole, required }: Route['gate'], takesCaller: boolean): Json[] {
  if (serviceRole !== undefined)
    return serviceRole === 'key' ? [{ serviceRole: [] }] : [{ serviceRole: [] }, { bearer: [] }]
  if (required) return [{ bearer: [] }]
  return takesCaller ? [{}, { bearer: [] }] : []
}

/** A schema that admits everything is left out. */
function withSchema(schema: Json | undefined): Json {
  return schema && Object.keys(schema).length > 0 ? { schema } : {}
}

function schemaOf(parameter: Parameter, { inputs }: Descriptions): Json | undefined {
  return 'schema' in parameter && parameter.schema !== undefined ? inputs[parameter.schema] : undefined
}

function parametersOf(parameter: Parameter, descriptions: Descriptions): Json[] {
  const schema = schemaOf(parameter, descriptions)
  const own = schema ?? { type: 'string' }
  const isNeeded =
    'schema' in parameter && parameter.schema !== undefined && descriptions.isOptional[parameter.schema] === false
  const required = isNeeded ? { required: true } : {}
  switch (parameter.from) {
    case 'param':
      return [{ name: parameter.name, in: 'path', required: true, schema: own }]
    case 'query':
      return [{ name: parameter.name, in: 'query', ...required, schema: own }]
    case 'header':
      return /^(?:accept|content-type|authorization)$/i.test(parameter.name)
        ? [] // OpenAPI ignores these as parameters: other fields describe them (3.1, "Parameter Object").
        : [{ name: parameter.name, in: 'header', ...required, schema: own }]
    case 'wholeQuery':
      return [...membersOf(schema ?? {}, descriptions.definitions)].map(([name, member]) => ({
        name,
        in: 'query',
        ...(member.isRequired ? { required: true } : {}),
        schema: member.schema,
      }))
    default:
      return []
  }
}
