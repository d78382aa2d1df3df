/** The OpenAPI document of the auth module, and whether answers of a running stack are as it describes them. */
import * as fs from 'node:fs'
import path from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { packageRoot } from './command.ts'

interface DocumentedContent {
  schema?: object
  examples?: Record<string, { value: unknown }>
}

export interface DocumentedOperation {
  parameters?: { name: string; in: 'path' | 'query' | 'header' }[]
  requestBody?: { content: Record<string, { schema?: object; example?: unknown }> }
  responses: Record<string, { headers?: object; content?: Record<string, DocumentedContent> }>
}

export const authDocument = JSON.parse(fs.readFileSync(path.join(packageRoot, 'docs/auth-openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, DocumentedOperation>>
  components: { schemas: Record<string, object> }
}

/** RFC 3339 in UTC, as contract 9 has times. */
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

const ajv = new Ajv2020({ strict: false, formats: { 'date-time': time } })
ajv.addSchema(authDocument, 'document')
const known = new Map<string, ValidateFunction>()

/** The path of an operation as the document has it: two paths that differ in the name of a parameter are one. */
function documentedPath(declared: string): string {
  const shape = declared.replace(/:\w+/g, '{}')
  const found = Object.keys(authDocument.paths).find((one) => one.replace(/\{\w+\}/g, '{}') === shape)
  if (found === undefined) throw new Error(`the document has no path ${declared}`)
  return found
}

export function documentedOperation(method: string, declared: string): DocumentedOperation {
  return authDocument.paths[documentedPath(declared)]![method.toLowerCase()]!
}

/** @returns what is wrong with a body by the schema of its answer. @param type the media type of the body. */
export function schemaFaults(method: string, declared: string, status: number, type: string, body: unknown): string[] {
  const { responses } = documentedOperation(method, declared)
  const response = String(status) in responses ? String(status) : 'default'
  if (response === 'default') return [`${status} is not documented`]
  const content = responses[response]!.content ?? {}
  if (!(type in content)) return [`${status} with ${type} is not documented`]
  if (content[type]!.schema === undefined) return []
  const pointer = ['paths', documentedPath(declared), method.toLowerCase(), 'responses', response, 'content', type]
  const place = [...pointer, 'schema'].map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
  const validate = known.get(place) ?? ajv.compile({ $ref: `document#/${encodeURI(place)}` })
  known.set(place, validate)
  if (validate(body)) return []
  return validate.errors!.map(({ instancePath, message }) => `${instancePath || 'the body'} ${message}`)
}
