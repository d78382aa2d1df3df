/** What the operations of an OpenAPI document answer: by the types of their handlers, by their gates, and as a run has recorded it. Pure. */
import type { Route } from '../../runtime/table.ts'
import { type ErrorCode, errorCodes } from '../../src/wire/envelope.ts'
import { componentPrefix, type Json } from './json.ts'
import type { JsonType } from './json-types.ts'

/** One answer of an operation, as a running worker has given it. */
export interface RecordedAnswer {
  /** What the answer is an example of: the code of an error, or the outcome. */
  name: string
  status: number
  /** Media type of the body, or `null` where there is none. */
  type: string | null
  /** Headers that tell the caller something, like `etag` and `location`. */
  headers?: Readonly<Record<string, string>>
  /** The JSON body of the request, where it has one. */
  request?: unknown
  /** The body as JSON. Absent for other media types. */
  body?: unknown
}

/** Answers by method and path, like `GET /users/:id`. */
export type RecordedAnswers = Readonly<Record<string, readonly RecordedAnswer[]>>

/** Name of the schema of the error envelope. No type of a project has it: `descriptions.ts` reserves it. */
export const envelopeName = 'Error'

interface Content {
  schema?: Json
  examples: Record<string, Json>
}

/** The answers of one status. */
interface Answers {
  description: string
  headers: Record<string, Json>
  content: Map<string, Content>
}

const json = 'application/json'
/** A handler that returns a `Response` decides on the media type itself. */
const anything = '*/*'

/** @returns the responses by their status. Those of the runtime to any request follow in the document as `default`. */
export function answersOf(
  route: Route,
  result: JsonType | undefined,
  recorded: readonly RecordedAnswer[],
): Record<string, Json> {
  const answers = new Map<number, Answers>()
  const at = (status: number, description: string): Answers => {
    const known = answers.get(status) ?? { description, headers: {}, content: new Map() }
    answers.set(status, known)
    return known
  }
  const { schema, isOptional, isOpaque } = result ?? { schema: {}, isOptional: false, isOpaque: true }
  if (schema && !(isOpaque && recorded.length > 0)) {
    const type = isOpaque ? anything : json
    at(route.status, type === json ? 'The result, as JSON.' : 'The result.').content.set(type, contentOf(schema))
  }
  if (isOptional || !schema) at(204, 'There is no result.')
  for (const code of refusalsOf(route)) {
    const { status, description } = errorCodes[code]
    const body = { error: code, error_description: description, status, request_id: exampleId }
    add(at(status, 'The request is refused.'), { name: code, status, type: json, body }, {})
  }
  for (const answer of recorded) {
    const { status } = answer
    const isRefusal = status >= 400 && answer.type === json
    const known = at(status, isRefusal ? 'The request is refused.' : descriptionOf(status))
    add(known, answer, isOpaque ? {} : (schema ?? {}))
  }
  return Object.fromEntries([...answers].map(([status, answer]) => [String(status), written(answer)]))
}

/** @param result the schema of what the handler returns, for answers that are no refusals. */
function add(to: Answers, { name, status, type, headers = {}, body }: RecordedAnswer, result: Json): void {
  for (const [header, example] of Object.entries(headers))
    to.headers[header] ??= { schema: { type: 'string' }, example }
  if (type === null) return
  const isRefusal = status >= 400 && type === json
  const schema = isRefusal ? { $ref: componentPrefix + envelopeName } : type === json ? result : { type: 'string' }
  const content = to.content.get(type) ?? contentOf(schema)
  to.content.set(type, content)
  if (body !== undefined) content.examples[name] = { value: body }
}

function contentOf(schema: Json): Content {
  return { ...(Object.keys(schema).length > 0 ? { schema } : {}), examples: {} } // a schema that admits everything is left out
}

function written({ description, headers, content }: Answers): Json {
  const types = [...content].map(([type, { schema, examples }]) => [
    type,
    { ...(schema ? { schema } : {}), ...(Object.keys(examples).length > 0 ? { examples } : {}) },
  ])
  return {
    description,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(types.length > 0 ? { content: Object.fromEntries(types) } : {}),
  }
}

/** The codes of the answers that the runtime itself gives to requests of a route, before its handler runs. */
function refusalsOf({ gate, parameters, limit }: Route): ErrorCode[] {
  const takesBody = parameters.some(({ from }) => from === 'body')
  const isChecked = takesBody || parameters.some((one) => 'schema' in one && one.schema !== undefined)
  const isAdministered = gate.serviceRole !== undefined
  const asksForMore = isAdministered || gate.role !== undefined || gate.permission !== undefined
  return [
    ...(isChecked ? (['invalid_request'] as const) : []),
    ...(isAdministered ? (['unknown_parameter'] as const) : []),
    ...(gate.required || isAdministered ? (['unauthorized'] as const) : []),
    ...(asksForMore ? (['forbidden'] as const) : []),
    ...(gate.verifiedEmail ? (['email_not_verified'] as const) : []),
    ...(gate.device ? (['device_required'] as const) : []),
    ...(takesBody ? (['request_timeout', 'payload_too_large', 'unsupported_media_type'] as const) : []),
    ...(limit ? (['rate_limited'] as const) : []),
  ]
}

function descriptionOf(status: number): string {
  if (status >= 400) return 'A page that says what is wrong.'
  return status >= 300 ? 'The address to go on at stands in `location`.' : 'The result.'
}

/** An id of a request, in the form of contract 6.3. */
const exampleId = 'req_01ARZ3NDEKTSV4RRFFQ69G5FAV'
