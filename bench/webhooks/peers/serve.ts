/** The parts of a hand-written Worker around its verification: a path for each sender, a switch, a line of log, an answer. */

export interface Env {
  STRIPE_SECRET: string
  GITHUB_SECRET: string
}

interface Delivery {
  event: string
  payload: { id?: unknown }
}

/** @returns `undefined` for a request that its sender did not sign. */
export type Verify = (request: Request, env: Env) => Promise<Delivery | undefined>

export function serve(stripe: Verify, github: Verify) {
  return {
    async fetch(request: Request, env: Env): Promise<Response> {
      const { pathname } = new URL(request.url)
      if (request.method === 'GET' && pathname === '/plain') return Response.json({ ok: true })
      if (request.method !== 'POST') return new Response(null, { status: 405 })
      switch (pathname) {
        case '/webhooks/stripe':
          return answer('stripe', await stripe(request, env))
        case '/webhooks/github':
          return answer('github', await github(request, env))
        default:
          return new Response(null, { status: 404 })
      }
    },
  }
}

/** Logs and answers the same as the build's worker, so that only the way there is compared. */
function answer(webhook: string, delivery: Delivery | undefined): Response {
  const id = `req_${crypto.randomUUID()}`
  if (!delivery) return json(id, { error: 'unauthorized' }, 401)
  const began = Date.now()
  const isHandled = handle(delivery)
  const { event } = delivery
  const message = `webhook ${webhook}: "${event}" handled by ${webhook}.paid in ${Date.now() - began} ms`
  console.info(JSON.stringify({ level: 'info', worker: 'backend', message, webhook, event, request_id: id }))
  return json(id, { ok: true, handled: isHandled }, 200)
}

function json(id: string, body: unknown, status: number): Response {
  const headers = {
    'content-type': 'application/json',
    'x-request-id': id,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  return new Response(JSON.stringify(body), { status, headers })
}

function handle({ event, payload }: Delivery): boolean {
  switch (event) {
    case 'invoice.paid':
    case 'issues.opened':
      if (typeof payload.id !== 'string') throw new TypeError('a delivery has an id')
      return true
    default:
      return false
  }
}
