/**
 * Passes each request of one socket to the auth worker or to the backend worker, by its path (contract 1.2), and the requests of
 * `stack cron run` to this process. It listens through `unsafeDirectSockets`: miniflare's own entry costs more than half of the throughput.
 */
import { authPaths, localCronPath } from '../src/wire/reserved-paths.ts'

/** The source of a worker, which runs in workerd unchanged. */
export const frontSource = `
const auth = ${JSON.stringify(authPaths)}
export default {
  async fetch(request, env) {
    const started = Date.now()
    const { pathname } = URL.parse(request.url) ?? { pathname: '/' } // a request with an invalid Host still reaches the project
    const isAuth = auth.some((path) => pathname === path || pathname.startsWith(path + '/'))
    const headers = new Headers(request.headers)
    // only loopback can reach this socket, and a client there may name another address to try what depends on it
    if (!headers.has('cf-connecting-ip')) headers.set('cf-connecting-ip', '127.0.0.1')
    const target = pathname === ${JSON.stringify(localCronPath)} ? env.CRON : isAuth ? env.AUTH : env.BACKEND
    const response = await target.fetch(new Request(request, { headers }))
    const fields = { method: request.method, path: pathname, status: response.status, ms: Date.now() - started }
    console.log(JSON.stringify({ level: 'info', worker: 'front', ...fields, request_id: response.headers.get('x-request-id') }))
    return response
  },
}
`
