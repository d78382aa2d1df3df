/** better-auth with addresses and passwords, as its documentation shows, with its tables in the given database. */
import http from 'node:http'
import type net from 'node:net'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'
import pg from 'pg'
import type { PeerOptions } from './index.ts'

const { databaseUrl, emails, password, sessions } = JSON.parse(process.argv[2]!) as PeerOptions
process.once('disconnect', () => process.exit()) // the bench has ended

const auth = betterAuth({
  baseURL: 'http://127.0.0.1',
  secret: 'a secret of the bench, and of nothing else',
  database: new pg.Pool({ connectionString: databaseUrl }),
  emailAndPassword: { enabled: true },
  session: { updateAge: 0 }, // each look at a session writes its new end
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
})
await (await getMigrations(auth.options)).runMigrations()
await Promise.all(emails.map((email) => auth.api.signUpEmail({ body: { email, password, name: email } })))

/** Signs in. @returns the cookie of the session. */
async function signIn(email: string): Promise<string> {
  const response = await auth.api.signInEmail({ body: { email, password }, asResponse: true })
  return response.headers.getSetCookie()[0]!.split(';')[0]!
}
const tokens = await Promise.all(Array.from({ length: sessions }, (_, index) => signIn(emails[index % emails.length]!)))

const server = http.createServer(toNodeHandler(auth))
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as net.AddressInfo).port, tokens }))
