/**
 * One socket, two workers: hands a request to the auth worker or to the backend worker by its path (contract 1.2). It
 * listens through `unsafeDirectSockets`: miniflare's own entry costs more than half of the throughput.
 */

/** Runs in workerd as it stands here. */
export const frontSource = `
const auth = /^\\/(?:auth|admin\\/vault|v1\\/management\\/auth|\\.well-known\\/oauth-authorization-server\\/auth)(?:\\/|$)/
export default {
  async fetch(request, env) {
    const started = Date.now()
    const { pathname } = new URL(request.url)
    const headers = new Headers(request.headers)
    headers.set('cf-connecting-ip', '127.0.0.1') // only loopback can reach this socket
    const response = await (auth.test(pathname) ? env.AUTH : env.BACKEND).fetch(new Request(request, { headers }))
    const fields = { method: request.method, path: pathname, status: response.status, ms: Date.now() - started }
    console.log(JSON.stringify({ level: 'info', worker: 'front', ...fields, request_id: response.headers.get('x-request-id') }))
    return response
  },
}
`
