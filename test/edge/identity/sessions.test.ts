/** A token of the stack's own issuer counts only while its session is known and live (contract 3.5). */
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { KeyServer } from '../../support/key-server.ts'
import { useStack } from '../../support/stack.ts'
import { createIssuer } from '../../support/tokens.ts'

const keyServer = new KeyServer()
await keyServer.listen()
const issuer = await createIssuer()
keyServer.answer('/jwks', JSON.stringify({ keys: [issuer.jwk] }))
afterAll(() => keyServer.close())

const base = 'https://stack.example'
/** The test signs its tokens as the stack's own issuer, because `STACK_URL` alone decides which issuer that is. */
const probe = useStack('test/edge/probe', {
  STACK_URL: base,
  AUTH_JWKS_URL: keyServer.url('/jwks'),
  AUTH_ISSUER: '', // The test sends tokens of several issuers.
  AUTH_AUDIENCE: '',
})

const now = Math.floor(Date.now() / 1000)
const tokenOf = (claims: Record<string, unknown>) => issuer.token({ iat: now, exp: now + 900, ...claims })

/** @returns the answers of a route that reads grants, of one that asks the database, and of a public one. */
async function answersTo(token: string) {
  const [gated, asking, open] = await Promise.all(
    ['/gates/signed-in', '/sql/parallel', '/gates/false'].map((path) => probe.call(path, { token })),
  )
  return [gated!.status, asking!.status, open!.json.user?.id ?? null]
}

async function user(): Promise<string> {
  const id = `usr_${randomUUID()}`
  await probe.sql('insert into auth.users (id, email) values ($1, $2)', [id, `${id.slice(4)}@example.com`])
  return id
}

async function session(userId: string): Promise<string> {
  const id = `ses_${randomUUID()}`
  await probe.sql(`insert into auth.sessions (id, user_id, expires_at) values ($1, $2, now() + interval '1 day')`, [
    id,
    userId,
  ])
  return id
}

describe('a token of the stack’s own issuer', () => {
  it('is good while its session lives, and for no request once that was ended', async () => {
    const sub = await user()
    const session_id = await session(sub)
    const token = await tokenOf({ iss: `${base}/auth`, sub, session_id })
    expect(await answersTo(token)).toEqual([200, 200, sub])
    await probe.sql(`update auth.sessions set ended_at = now(), end_reason = 'revoked' where id = $1`, [session_id])
    expect(await answersTo(token)).toEqual([401, 401, null])
  })

  it('is anonymous where the database does not know its session', async () => {
    const sub = await user()
    expect(await answersTo(await tokenOf({ iss: `${base}/auth`, sub, session_id: 'ses_unknown' }))).toEqual([
      401,
      401,
      null,
    ])
  })

  it.each([[undefined], [''], [7], [null], [['ses_1']]])('is anonymous with the session_id %j', async (session_id) => {
    const sub = await user()
    expect(await answersTo(await tokenOf({ iss: `${base}/auth`, sub, session_id }))).toEqual([401, 401, null])
  })
})

describe('a deleted user', () => {
  it('enters no more, on the next request of the same token', async () => {
    const sub = await user()
    const token = await tokenOf({ iss: `${base}/auth`, sub, session_id: await session(sub) })
    expect(await answersTo(token)).toEqual([200, 200, sub])
    await probe.sql('delete from auth.users where id = $1', [sub])
    expect(await answersTo(token)).toEqual([401, 401, null])
  })

  it('leaves the ids of the sessions behind until their tokens have expired: no issuer’s token brings one back', async () => {
    const sub = await user()
    const session_id = await session(sub)
    const token = await tokenOf({ iss: 'https://another.example', sub, session_id })
    expect((await answersTo(token)).slice(0, 2)).toEqual([200, 200])
    await probe.sql('delete from auth.users where id = $1', [sub])
    expect(await answersTo(token)).toEqual([401, 401, null])
    const [row] = await probe.sql<{ minutes: number }>(
      'select extract(epoch from until - now())::float8 / 60 as minutes from auth.ended_sessions where id = $1',
      [session_id],
    )
    expect(row!.minutes).toBeGreaterThan(15)
    await probe.sql(`update auth.ended_sessions set until = now() - interval '1 second'`)
    const other = await user()
    await session(other)
    await probe.sql('delete from auth.users where id = $1', [other])
    expect(await probe.sql('select id from auth.ended_sessions where id = $1', [session_id])).toEqual([])
  })
})

describe('a token of another issuer', () => {
  it.each([['ses_theirs'], [undefined]])(
    'passes with a session_id that this database does not know: %s',
    async (session_id) => {
      const token = await tokenOf({ iss: 'https://another.example', sub: 'usr_theirs', session_id })
      expect(await answersTo(token)).toEqual([200, 200, 'usr_theirs'])
    },
  )
})
