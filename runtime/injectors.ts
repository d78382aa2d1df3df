/** The arguments of a handler. */
import { httpError } from '../src/sdk/errors.ts'
import type { UserT } from '../src/sdk/user.ts'
import type { FieldError } from '../src/wire/envelope.ts'
import { parseBody } from './body.ts'
import type { Call } from './call.ts'
import type { Emitted } from './emitted.ts'
import { recordOf } from './record.ts'
import type { Match } from './routes.ts'
import type { Validate } from './schemas.ts'
import { mostFields, unstorableFields } from './storable.ts'
import type { Parameter } from './table.ts'

/**
 * @param bytes the body, where a parameter takes it.
 * @throws HttpError 400 or 415 for a body that is not JSON; 400 with all fields for text that Postgres cannot hold, and for
 * values that a schema refuses.
 */
export async function argumentsFor(
  call: Call,
  parameters: readonly Parameter[],
  match: Match,
  user: UserT | null,
  validators: readonly Validate[],
  bytes: Uint8Array | undefined,
  texts: Emitted['texts'],
): Promise<unknown[]> {
  if (parameters.length === 0) return []
  const body = bytes && parseBody(call.request, bytes)
  const isQueried = parameters.some(({ from }) => from === 'query' || from === 'wholeQuery')
  const query = isQueried ? new URLSearchParams(call.search) : undefined
  const values = parameters.map((parameter) => argument(parameter, call, match, user, body?.value, query, texts))
  const unstorable = parameters.flatMap((parameter, index) => unstorableFields(parameter, values[index], body?.text))
  if (unstorable[0]) throw fieldsError(unstorable.slice(0, mostFields))
  return parameters.some(hasSchema) ? validated(parameters, values, validators, texts) : values
}

const hasSchema = (parameter: Parameter) => 'schema' in parameter

/** Validates with every schema, so that one answer names all violations. */
async function validated(
  parameters: readonly Parameter[],
  values: readonly unknown[],
  validators: readonly Validate[],
  texts: Emitted['texts'],
): Promise<unknown[]> {
  const fields: FieldError[] = []
  const checked: unknown[] = []
  for (const [index, parameter] of parameters.entries()) {
    const schema = 'schema' in parameter ? parameter.schema : undefined
    const result =
      schema === undefined
        ? { value: values[index] }
        : await validators[schema]!(texts ? texts.coerced(parameter, values[index]) : values[index])
    if ('fields' in result) fields.push(...result.fields)
    else checked.push(result.value)
  }
  if (fields[0]) throw fieldsError(fields)
  return checked
}

function fieldsError(fields: FieldError[]) {
  const [first] = fields
  return httpError('invalid_request', `the request is not valid: ${first!.path}: ${first!.reason}`, { fields })
}

function argument(
  parameter: Parameter,
  call: Call,
  match: Match,
  user: UserT | null,
  body: unknown,
  query: URLSearchParams | undefined,
  texts: Emitted['texts'],
): unknown {
  switch (parameter.from) {
    case 'param':
      return match[parameter.position + 1]
    case 'query':
      return (parameter.coerce?.list ? texts!.listed(query!, parameter.name) : query?.get(parameter.name)) ?? undefined
    case 'wholeQuery':
      return query && recordOf(query)
    case 'header':
      return call.request.headers.get(parameter.name) ?? undefined
    case 'body':
      return body
    case 'request':
      return call.request
    case 'user':
      if (!user) throw httpError('unauthorized')
      return user
    case 'optionalUser':
      return user
    case 'requestId':
      return call.requestId
    case 'client':
      return undefined
  }
}
