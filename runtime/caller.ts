/** Names the caller of a request, because rate limits and the pool's connections are shared out by caller. */
import { networkOfAddress } from '../src/wire/network.ts'
import { beginCall, type Call } from './call.ts'
import type { Env } from './env.ts'

/** Header that names the caller for whom one worker calls another. It counts only in a request over a service binding. */
export const callerHeader = 'x-stack-caller'

/**
 * @returns `user <sub>` for a verified access token, else `ip <network>`. A request without the platform's own header came over
 * a service binding. It counts under the caller that the calling worker names.
 */
export function callerOf({ subject, request }: Call): string {
  if (subject !== undefined) return `user ${subject}`
  if (request.headers.has('cf-connecting-ip')) return `ip ${networkOf(request)}`
  return `for ${request.headers.get(callerHeader) ?? 'a service'}`
}

/** Begins a call that no HTTP request has caused. @param caller the name under which the pool counts its connections. */
export function beginInternalCall(caller: string, env: Env, context: ExecutionContext): Call {
  const headers = { [callerHeader]: encodeURI(caller) } // names of classes may hold characters that no header can
  return beginCall(new Request('https://internal.invalid/', { headers }), env, context)
}

/** The network of the address that the platform saw. */
export function networkOf(request: Request): string {
  return networkOfAddress(request.headers.get('cf-connecting-ip') ?? '')
}
