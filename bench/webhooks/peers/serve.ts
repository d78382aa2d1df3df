/** What a Worker of one's own has around its verification: an address for each sender, a switch, a line of log, an answer. */

export interface Env {
  STRIPE_SECRET: string
  GITHUB_SECRET: string
}

interface Delivery {
  event: string
  payload: { id?: unknown }
}

/** @returns `undefined` for what its sender did not sign. */
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

function answer(webhook: string, delivery: Delivery | undefined): Response {
  if (!delivery) return Response.json({ error: 'unauthorized' }, { status: 401 })
  const isHandled = handle(delivery)
  const message = `webhook ${webhook} ${isHandled ? 'handled' : 'has no handler for this event'}`
  const { event } = delivery
  console.info(JSON.stringify({ level: 'info', message, webhook, event, request_id: crypto.randomUUID() }))
  return Response.json({ ok: true, handled: isHandled })
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
