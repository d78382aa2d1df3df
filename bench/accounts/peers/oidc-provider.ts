/** oidc-provider with the grant type `refresh_token` for a public client, ES256 access tokens, and its rows in the given database. */
import http from 'node:http'
import type net from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import pg from 'pg'
import type { PeerOptions } from './index.ts'

const { databaseUrl, emails, sessions } = JSON.parse(process.argv[2]!) as PeerOptions
process.once('disconnect', () => process.exit()) // the bench has ended

const pool = new pg.Pool({ connectionString: databaseUrl })
await pool.query(`
  create table users (id text primary key, email text not null);
  create table entities (model text, id text, grant_id text, payload jsonb not null, expires_at timestamptz, primary key (model, id));
  create index on entities (grant_id)`)
await pool.query('insert into users select email, email from unnest($1::text[]) as email', [emails])

/** One table for every model. Each method is one statement, which Postgres prepares once for a connection. */
class Adapter {
  private readonly model: string

  constructor(model: string) {
    this.model = model
  }

  async upsert(id: string, payload: Record<string, unknown>, seconds?: number): Promise<void> {
    const text = `insert into entities values ($1, $2, $3, $4, now() + make_interval(secs => $5))
      on conflict (model, id) do update set payload = excluded.payload, expires_at = excluded.expires_at`
    const values = [this.model, id, payload['grantId'] ?? null, payload, seconds ?? null]
    await pool.query({ name: 'upsert', text, values })
  }

  async find(id: string): Promise<unknown> {
    const text =
      'select payload from entities where model = $1 and id = $2 and (expires_at is null or expires_at > now())'
    const { rows } = await pool.query({ name: 'find', text, values: [this.model, id] })
    return rows[0]?.payload
  }

  async consume(id: string): Promise<void> {
    const text = `update entities set payload = payload || jsonb_build_object('consumed', floor(extract(epoch from now())))
      where model = $1 and id = $2`
    await pool.query({ name: 'consume', text, values: [this.model, id] })
  }

  async destroy(id: string): Promise<void> {
    await pool.query('delete from entities where model = $1 and id = $2', [this.model, id])
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await pool.query('delete from entities where grant_id = $1', [grantId])
  }
}

const api = 'https://api.example.com/'
const { privateKey } = await generateKeyPair('ES256', { extractable: true })
const provider = new Provider('http://127.0.0.1', {
  adapter: Adapter,
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
  clients: [
    {
      client_id: 'app',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['http://127.0.0.1/callback'],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  rotateRefreshToken: true,
  async findAccount(_context: unknown, id: string) {
    const { rows } = await pool.query({ name: 'user', text: 'select email from users where id = $1', values: [id] })
    return rows[0] && { accountId: id, claims: () => ({ sub: id, email: rows[0].email }) }
  },
  ttl: { AccessToken: 900, Grant: 86_400, RefreshToken: 86_400 },
  features: {
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => api,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'api',
        audience: api,
        accessTokenTTL: 900,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
})

/** Grants what a user would have consented to. @returns a refresh token. */
async function grant(accountId: string): Promise<string> {
  const grant = new provider.Grant({ clientId: 'app', accountId })
  grant.addResourceScope(api, 'api')
  const grantId = await grant.save()
  const client = await provider.Client.find('app')
  const gty = 'authorization_code'
  const token = new provider.RefreshToken({ client, accountId, grantId, gty, scope: 'api', resource: api })
  return token.save()
}
const tokens: string[] = []
for (let index = 0; index < sessions; index++) tokens.push(await grant(emails[index % emails.length]!))

const server = http.createServer(provider.callback())
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as net.AddressInfo).port, tokens }))
