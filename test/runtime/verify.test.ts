/** Access tokens that are genuine and current, and those that are not (contract 3.1). */
import { describe, expect, it } from 'vitest'
import { bearerToken } from '../../runtime/identity/bearer.ts'
import { createKeySet } from '../../runtime/identity/keys.ts'
import { isSignedBy, readToken } from '../../runtime/identity/verify.ts'
import { compact, createIssuer, issuedAt } from '../support/tokens.ts'

const issuer = await createIssuer()
const source = { load: async () => JSON.stringify({ keys: [issuer.jwk] }), waitUntil() {}, failed() {} }
const keys = await createKeySet(() => 0).find(undefined, source)

/** @returns the subject, or the reason of the refusal. */
async function verdict(
  token: string,
  expected: { issuer?: string; audience?: string; now?: number } = {},
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
    ['NUL in a claim', { custom_claims: { a: 'x\u0000' } }, {}, 'unstorable_claims'],
    ['half a surrogate pair in a claim', { custom_claims: { a: ['\ud800'] } }, {}, 'unstorable_claims'],
  ])('%s', async (_what, claims, header, reason) => {
    expect(await verdict(await issuer.token(claims, header))).toBe(reason)
  })

  const claims = { sub: 'usr_1', exp: issuedAt + 900 }
  it.each([
    ['alg none', compact({ alg: 'none' }, claims, ''), 'wrong_algorithm'],
    ['HS256', compact({ alg: 'HS256' }, claims), 'wrong_algorithm'],
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
    expect(read(`Bearer a.b.${'c'.repeat(8200)}`)).toEqual({ reason: 'header_too_long' })
  })
})
