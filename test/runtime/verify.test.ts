/** Access tokens that are genuine and current, and those that are not (contract 3.1). */
import { describe, expect, it, vi } from 'vitest'
import type { Call } from '../../runtime/call.ts'
import { bearerToken } from '../../runtime/identity/bearer.ts'
import { identify } from '../../runtime/identity/identify.ts'
import { createKeySet } from '../../runtime/identity/keys.ts'
import { userOf } from '../../runtime/identity/user.ts'
import { isSignedBy, readToken } from '../../runtime/identity/verify.ts'
import { compact, createIssuer, issuedAt } from '../support/tokens.ts'

const issuer = await createIssuer()
const source = { load: async () => JSON.stringify({ keys: [issuer.jwk] }), waitUntil() {}, failed() {} }
const keys = await createKeySet(() => 0).find(undefined, source)

/** @returns the subject, or the reason of the refusal. */
async function verdict(
  token: string,
  expected: { issuer?: string; audience?: string; ownIssuer?: string; now?: number } = {},
): Promise<string> {
  const candidate = readToken(token, { now: issuedAt, ...expected })
  if (typeof candidate === 'string') return candidate
  return (await isSignedBy(keys, candidate)) ? candidate.claims.sub : 'bad_signature'
}

describe('accepted', () => {
  it.each([
    ['no typ', {}, {}],
    ['typ JWT', {}, { typ: 'JWT' }],
    ['typ at+jwt', {}, { typ: 'at+jwt' }],
    ['no kid', {}, { kid: undefined }],
    ['issued 5 seconds ahead', { iat: issuedAt + 5 }, {}],
    ['valid in 5 seconds', { nbf: issuedAt + 5 }, {}],
    ['no iat', { iat: undefined }, {}],
    ['claims that nobody reads', { custom_claims: { plan: 'pro', deep: [{ a: 'ü' }] } }, {}],
  ])('%s', async (_what, claims, header) => {
    expect(await verdict(await issuer.token(claims, header))).toBe('usr_1')
  })
})

describe('refused', () => {
  it.each([
    ['no exp', { exp: undefined }, {}, 'missing_exp'],
    ['exp that is text', { exp: String(issuedAt + 900) }, {}, 'missing_exp'],
    ['exp now', { exp: issuedAt }, {}, 'expired'],
    ['no sub', { sub: undefined }, {}, 'missing_sub'],
    ['empty sub', { sub: '' }, {}, 'missing_sub'],
    ['sub that is a number', { sub: 7 }, {}, 'missing_sub'],
    ['issued 6 seconds ahead', { iat: issuedAt + 6 }, {}, 'issued_in_the_future'],
    ['valid in 6 seconds', { nbf: issuedAt + 6 }, {}, 'not_yet_valid'],
    ['nbf that is text', { nbf: '0' }, {}, 'not_yet_valid'],
    ['another typ', {}, { typ: 'dpop+jwt' }, 'wrong_type'],
    ['kid that is a number', {}, { kid: 1 }, 'malformed_header'],
    ['an unencoded payload', {}, { b64: false }, 'critical_header'],
    ['NUL in a claim', { custom_claims: { a: 'x\u0000' } }, {}, 'unstorable_claims'],
    ['half a surrogate pair in a claim', { custom_claims: { a: ['\ud800'] } }, {}, 'unstorable_claims'],
  ])('%s', async (_what, claims, header, reason) => {
    expect(await verdict(await issuer.token(claims, header))).toBe(reason)
  })

  const claims = { sub: 'usr_1', exp: issuedAt + 900 }
  it.each([
    ['alg none', compact({ alg: 'none' }, claims, ''), 'wrong_algorithm'],
    ['HS256', compact({ alg: 'HS256' }, claims), 'wrong_algorithm'],
    ['a critical extension', compact({ alg: 'ES256', crit: ['x'] }, claims), 'critical_header'],
    ['ES384', compact({ alg: 'ES384' }, claims), 'wrong_algorithm'],
    ['alg in lower case', compact({ alg: 'es256' }, claims), 'wrong_algorithm'],
    ['crit', compact({ alg: 'ES256', crit: ['b64'], b64: false }, claims), 'critical_header'],
    ['an embedded key', compact({ alg: 'ES256', jwk: issuer.jwk }, claims), 'bad_signature'],
    ['a signature of zeros', compact({ alg: 'ES256' }, claims), 'bad_signature'],
    ['a signature of another length', compact({ alg: 'ES256' }, claims, 'A'.repeat(84)), 'malformed_signature'],
    ['a header that is a list', compact([], claims), 'malformed_header'],
    ['a header that is no JSON', compact('{', claims), 'malformed_header'],
    ['claims that are null', compact({ alg: 'ES256' }, 'null'), 'malformed_claims'],
    ['claims with a byte order mark', compact({ alg: 'ES256' }, `\ufeff${JSON.stringify(claims)}`), 'malformed_claims'],
  ])('%s', async (_what, token, reason) => {
    expect(await verdict(token)).toBe(reason)
  })

  it('every single character changed', async () => {
    const token = await issuer.token()
    for (let index = 0; index < token.length; index += 7) {
      const changed = token[index] === 'A' ? 'B' : 'A'
      const forged = token.slice(0, index) + changed + token.slice(index + 1)
      if (bearerToken(new Request('http://x', { headers: { authorization: `Bearer ${forged}` } })) === undefined)
        continue
      expect(await verdict(forged)).not.toBe('usr_1')
    }
  })

  it('another issuer or audience, where one is expected', async () => {
    const token = await issuer.token({ iss: 'https://a', aud: ['x', 'y'] })
    expect(await verdict(token, { issuer: 'https://a', audience: 'y' })).toBe('usr_1')
    expect(await verdict(token, { issuer: 'https://b' })).toBe('wrong_issuer')
    expect(await verdict(token, { audience: 'z' })).toBe('wrong_audience')
    expect(await verdict(await issuer.token(), { audience: 'z' })).toBe('wrong_audience')
  })

  it('another key', async () => {
    expect(await verdict(await (await createIssuer()).token())).toBe('bad_signature')
  })

  it('an audience whose name contains the expected one', async () => {
    const token = await issuer.token({ aud: ['shop-admin'] })
    expect(await verdict(token, { audience: 'shop' })).toBe('wrong_audience')
    expect(await verdict(token, { audience: 'shop-admin' })).toBe('usr_1')
  })

  it('an expiry that is no finite number', () => {
    const part = (text: string) => Buffer.from(text).toString('base64url')
    const token = `${part('{"alg":"ES256"}')}.${part('{"sub":"usr_1","exp":1e999}')}.AAAA`
    expect(readToken(token, { now: issuedAt })).toBe('missing_exp')
  })

  it('a token of the stack’s own issuer without a session', async () => {
    const ownIssuer = 'https://stack.example/auth'
    const of = async (iss: string, session_id: unknown) =>
      verdict(await issuer.token({ iss, session_id }), { ownIssuer })
    expect(await of(ownIssuer, 'ses_1')).toBe('usr_1')
    for (const session of [undefined, '', 7, null]) expect(await of(ownIssuer, session)).toBe('missing_session')
    expect(await of('https://other.example', undefined)).toBe('usr_1')
  })
})

describe('what is kept of tokens', () => {
  it('is a few headers, however many are forged', () => {
    const emptied = vi.spyOn(Map.prototype, 'clear')
    for (let index = 0; index < 40; index++)
      readToken(compact({ alg: 'ES256', kid: `forged-${index}` }, {}), { now: issuedAt })
    expect(emptied.mock.calls.length).toBeGreaterThan(1)
    emptied.mockRestore()
  })
})

describe('the caller', () => {
  it('is anonymous where the check of the token throws, and the log has the reason', async () => {
    const lines: unknown[] = []
    const env = {}
    Object.defineProperty(env, 'AUTH_ISSUER', {
      get() {
        throw new Error('broken')
      },
      enumerable: true,
    })
    const request = new Request('http://x', { headers: { authorization: 'Bearer a.b.c' } })
    const call = { env, request, log: (...line: unknown[]) => lines.push(line) } as unknown as Call
    expect(await identify(call)).toBe(null)
    expect(lines).toEqual([['debug', 'the access token was refused', { reason: 'failed: Error: broken' }]])
  })

  it.each([
    [true, true],
    ['true', false],
    ['false', false],
    [1, false],
    [undefined, false],
  ])('has a confirmed address where the claim is true: %j', (email_verified, isVerified) => {
    const claims = { sub: 'usr_1', exp: 0, email_verified }
    expect(userOf({ claims, role: 'authenticated' }, [], null).emailVerified).toBe(isVerified)
  })
})

describe('the header', () => {
  const read = (authorization: string) => bearerToken(new Request('http://x', { headers: { authorization } }))

  it('is Bearer and three base64url parts', () => {
    for (const header of ['Bearer a.b.c', 'bearer a.b.c', 'Bearer   a.b.c', '  Bearer a.b.c', 'Bearer a.b.c \t']) {
      expect([header, read(header)]).toEqual([header, { token: 'a.b.c' }])
    }
    expect(bearerToken(new Request('http://x'))).toBeUndefined()
  })

  it.each([
    ['another_scheme', 'a.b.c'],
    ['another_scheme', 'Basic a.b.c'],
    ['another_scheme', 'Bearers a.b.c'],
    ['malformed_token', 'Bearer'],
    ['malformed_token', 'Bearer a.b'],
    ['malformed_token', 'Bearer a.b.c.d'],
    ['malformed_token', 'Bearer a.b.'],
    ['malformed_token', 'Bearer a.b.c='],
    ['another_scheme', 'Bearer\ta.b.c'],
    ['malformed_token', 'Bearer \ta.b.c'],
    ['malformed_token', 'Bearer a.b.c x'],
    ['malformed_token', 'Bearer a.b.c, Bearer a.b.c'],
    ['malformed_token', 'Bearer a.b.c+'],
  ])('3.3 is refused for a reason that only the log has: %s, %s', (reason, header) => {
    expect(read(header)).toEqual({ reason })
  })

  it('3.3 is refused when it is longer than 8 KiB', () => {
    const longest = `Bearer a.b.${'c'.repeat(8192 - 11)}`
    expect(read(longest)).toHaveProperty('token')
    expect(read(`${longest}c`)).toEqual({ reason: 'header_too_long' })
  })
})
