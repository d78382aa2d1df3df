/** Sign-in with the four providers over HTTP, against issuers with real keys: the flows, and everything that must be refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Dialect } from '../../support/mock-issuer.ts'
import { arrive, enable, mockIssuers, newVerifier, returnUri, signInWith, startPath } from '../../support/providers.ts'
import { useStack } from '../../support/stack.ts'

const issuers = mockIssuers()
const shop = useStack('examples/orders', undefined, { auth: issuers.bindings })
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
const dialects: Dialect[] = ['google', 'apple', 'microsoft', 'github']

let count = 0
/** A person that no test has seen. Numbers suit all providers. */
const newPerson = (more: object = {}) => {
  count++
  return {
    sub: String(70_000 + count),
    email: `p${count}-${crypto.randomUUID()}@example.com`,
    verified: true,
    name: 'Ada L.',
    ...more,
  }
}

beforeAll(async () => {
  for (const issuer of issuers.all) await enable(shop, issuer)
})
beforeEach(() => {
  for (const issuer of issuers.all) issuer.reset()
})
afterAll(() => issuers.close())

describe('a whole sign-in in the browser', () => {
  it.each(dialects)('%s', async (dialect) => {
    const issuer = issuers[dialect]
    const person = newPerson()
    const first = await signInWith(shop, issuer, { person })
    expect([first.status, first.text]).toEqual([200, expect.stringContaining('access_token')])
    expect(first.json.user).toMatchObject({ email: person.email, email_verified: true, is_anonymous: false })
    expect(claimsOf(first.json.access_token)).toMatchObject({ amr: ['fed'], aal: 'aal1', role: 'authenticated' })
    expect((await shop.call('/orders', { token: first.json.access_token })).status).toBe(200)
    const again = await signInWith(shop, issuer, { person })
    expect(again.json.user.id).toBe(first.json.user.id)
    const sessions = await shop.sql(
      'select provider, client_key, platform, application_key from auth.sessions where user_id = $1',
      [first.json.user.id],
    )
    expect(sessions).toEqual(
      [1, 2].map(() => ({ provider: dialect, client_key: 'web', platform: 'web', application_key: 'shop' })),
    )
  })
})
