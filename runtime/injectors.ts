/** What each parameter of a handler receives. */
import { refuse } from '../src/sdk/errors.ts'
import type { UserT } from '../src/sdk/user.ts'
import { readJson } from './bytes.ts'
import type { Call } from './call.ts'
import type { Match } from './routes.ts'
import type { Parameter } from './table.ts'

/** @throws HttpError 400 or 415 for a body that is not JSON. */
export async function argumentsFor(call: Call, match: Match, user: UserT | null): Promise<unknown[]> {
  const { parameters } = match.route
  const body = parameters.some(({ from }) => from === 'body') ? await readJson(call.request) : undefined
  const query = parameters.some(({ from }) => from === 'query') ? new URLSearchParams(call.search) : undefined
  return parameters.map((parameter) => argument(parameter, call, match, user, body, query))
}

function argument(
  parameter: Parameter,
  call: Call,
  match: Match,
  user: UserT | null,
  body: unknown,
  query: URLSearchParams | undefined,
): unknown {
  switch (parameter.from) {
    case 'param':
      return match.parameters[parameter.name]
    case 'query':
      return query?.get(parameter.name) ?? undefined
    case 'header':
      return call.request.headers.get(parameter.name) ?? undefined
    case 'body':
      return body
    case 'request':
      return call.request
    case 'user':
      if (!user) throw refuse('unauthorized')
      return user
    case 'optionalUser':
      return user
    case 'requestId':
      return call.requestId
    case 'client':
      return undefined
  }
}
