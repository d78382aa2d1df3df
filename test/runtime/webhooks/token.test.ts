/** The scheme whose proof is a JSON Web Token with the hash of the body. */
import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { presets } from '../../../src/wire/webhook-schemes.ts'
import { bytes, holds, now } from '../../support/claims.ts'

describe('the token scheme', () => {
  const body = bytes('{"event":"room_started"}')
  const sha256 = createHash('sha256').update(body).digest('base64')
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = (claims: object, header: object = { alg: 'HS256', typ: 'JWT' }) => {
    const signed = `${part(header)}.${part(claims)}`
    return `${signed}.${createHmac('sha256', 'devsecret').update(signed).digest('base64url')}`
  }
  const sent = (claims: object, header?: object) =>
    holds(presets.livekit.proof, 'devsecret', { authorization: token(claims, header) }, body)

  it.each<[string, object, object | undefined, unknown]>([
    ['a sound one', { sha256, nbf: now, exp: now + 300 }, undefined, true],
    ['300 s after it began', { sha256, nbf: now - 300, exp: now }, undefined, true],
    ['301 s after it began', { sha256, nbf: now - 301, exp: now + 300 }, undefined, 'stale_timestamp'],
    ['one that is over', { sha256, nbf: now - 10, exp: now - 1 }, undefined, 'stale_timestamp'],
    ['301 s ahead', { sha256, nbf: now + 301, exp: now + 600 }, undefined, 'future_timestamp'],
    ['only an end', { sha256, exp: now + 300 }, undefined, true],
    ['an end that is far', { sha256, exp: now + 4000 }, undefined, 'future_timestamp'],
    ['no end', { sha256, nbf: now }, undefined, 'bad_encoding'],
    ['a time that is a text', { sha256, nbf: String(now), exp: now + 300 }, undefined, 'bad_encoding'],
    ['another body', { sha256: sha256.replace(/^./, 'A'), nbf: now, exp: now + 300 }, undefined, false],
    ['an end in 500 s', { sha256, exp: now + 500 }, undefined, true],
    ['only an end, as of 300 s ago', { sha256, exp: now }, undefined, true],
    ['no hash', { nbf: now, exp: now + 300 }, undefined, 'bad_encoding'],
    ['alg none', { sha256, nbf: now }, { alg: 'none' }, 'unsupported_scheme'],
    ['alg HS512', { sha256, nbf: now }, { alg: 'HS512' }, 'unsupported_scheme'],
    ['crit', { sha256, nbf: now }, { alg: 'HS256', crit: ['x'] }, 'unsupported_scheme'],
  ])('%s', async (_what, claims, header, expected) => {
    expect(await sent(claims, header)).toBe(expected)
  })

  it('is signed with the secret, whole, and has at most 8,192 characters', async () => {
    const sound = token({ sha256, nbf: now, exp: now + 300 })
    const taken = (authorization: string, secret = 'devsecret') =>
      holds(presets.livekit.proof, secret, { authorization }, body)
    expect([await taken(sound), await taken(sound, 'another')]).toEqual([true, false])
    expect(await taken(`${sound}.x`)).toBe('bad_encoding')
    expect(await taken(token({ sha256, nbf: now, exp: now + 300, more: 'x'.repeat(7_000) }))).toBe('bad_encoding')
  })
})
