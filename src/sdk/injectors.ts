/** What a handler's parameter receives. */
import { unbuilt } from './errors.ts'
import type { StandardSchema } from './schema.ts'

type ParameterMark = (target: object, key: string | symbol, index: number) => void

/** The path parameter `:name`, percent-decoded; with a schema, what the schema makes of it (contract 2.8). */
export function Param(_name: string, _schema?: StandardSchema): ParameterMark {
  return unbuilt('Param')
}

/** The query parameter `name`, its first value, or `undefined`; with a schema, what the schema makes of it. */
export function Query(name: string, schema?: StandardSchema): ParameterMark
/** The whole query as an object, as the schema makes it: a parameter that is repeated is a list. */
export function Query(schema: StandardSchema): ParameterMark
export function Query(): ParameterMark {
  return unbuilt('Query')
}

/** The header `name`, or `undefined`; with a schema, what the schema makes of it. */
export function Header(_name: string, _schema?: StandardSchema): ParameterMark {
  return unbuilt('Header')
}

/**
 * The JSON body, parsed; with a schema, what the schema makes of it. A body that is not JSON is 400 `invalid_request`, one
 * of another type 415.
 */
export function Body(_schema?: StandardSchema): ParameterMark {
  return unbuilt('Body')
}

/** The Web `Request` itself. */
export function Req(): ParameterMark {
  return unbuilt('Req')
}

/** The signed-in user (`UserT`); refused by the build on a route that does not require one. */
export function User(): ParameterMark {
  return unbuilt('User')
}

/** The caller as `UserT`, or `null`. */
export function OptionalUser(): ParameterMark {
  return unbuilt('OptionalUser')
}

/** The `req_…` id of this request, also in the error envelope and the log. */
export function RequestId(): ParameterMark {
  return unbuilt('RequestId')
}

/** The same value as `RequestId()`. */
export function TraceId(): ParameterMark {
  return unbuilt('TraceId')
}

/** Has no effect at run time: the parameter is `undefined`. */
export function Client(): ParameterMark {
  return unbuilt('Client')
}
