/** The gated route written by hand with neon's driver as published: a connection a request, and one statement at a time. */
import { Client } from '@neondatabase/serverless'
import { Hono } from 'hono'
import { type AuthEnv, answerHeaders, claimsOf } from './signed-in.ts'

interface Env extends AuthEnv {
  DATABASE_URL: string
  CLAIMS_KEY: string
}

const app = new Hono<{ Bindings: Env }>()

app.get('/plain', (context) => context.json({ ok: true }))

app.get('/notes', async (context) => {
  const { env } = context
  const claims = await claimsOf(context.req.header('authorization'), env)
  if (!claims) return context.json({ error: 'unauthorized' }, 401, answerHeaders())
  const bound = JSON.stringify(claims)
  const signature = await sign(env.CLAIMS_KEY, bound)
  const client = connection(env.DATABASE_URL)
  await client.connect()
  try {
    await client.query('begin')
    await client.query('set local role backend_authenticated')
    await client.query('set local search_path = public')
    await client.query(
      `select set_config('request.jwt.claims', $1, true), set_config('request.jwt.signature', $2, true)`,
      [bound, signature],
    )
    const grants = await client.query<{ permissions: string[] }>('select permissions from auth.request_context(null)')
    if (!grants.rows[0]?.permissions.includes('notes.read')) {
      await client.query('rollback')
      return context.json({ error: 'forbidden' }, 403, answerHeaders())
    }
    const { rows } = await client.query('select id, text from notes order by id limit 10')
    await client.query('commit')
    return context.json(rows, 200, answerHeaders())
  } finally {
    context.executionCtx.waitUntil(client.end())
  }
})

/** Connects through a proxy for the WebSocket. All other settings are the driver's own. */
function connection(url: string): Client {
  const client = new Client(url)
  const settings = client.neonConfig
  settings.wsProxy = (host, port) => `${host}:${port}`
  settings.useSecureWebSocket = false
  return client
}

let key: CryptoKey | undefined

async function sign(secret: string, text: string): Promise<string> {
  const encoder = new TextEncoder()
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  key ??= await crypto.subtle.importKey('raw', encoder.encode(secret), hmac, false, ['sign'])
  const expiry = Math.ceil(Date.now() / 1000) + 60
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(`${expiry}.${text}`)))
  return `${expiry}.${hex(bytes)}`
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export default app
