import { createPublicKey } from 'node:crypto'
import { encode, type Json, jwkOf, kid, type TokenClass, withoutKid } from './base.ts'
import type { TokenMaker } from './maker.ts'

export function embeddedKeys({
  attacker,

  make,
  accept,
  refuse,
  iss,
  keys: { stranger, strangerKey },
}: TokenMaker): TokenClass {
  const jwk = withoutKid({ ...stranger.jwk })
  const x5c = [createPublicKey(strangerKey).export({ format: 'der', type: 'spki' }).toString('base64')]
  const carried: [string, Json][] = [
    ['jwk', { jwk }],
    ['jwk with the kid of a known key', { jwk: { ...jwk, kid } }],
    ['jwk with a private member', { jwk: jwkOf(strangerKey) }],
    ['a list of jwk', { jwk: [jwk] }],
    ['jwks', { jwks: { keys: [jwk] } }],
    ['jku', { jku: attacker }],
    ['jku with credentials in it', { jku: attacker.replace('//', `//${new URL(iss).host}@`) }],
    ['x5u', { x5u: attacker }],
    ['x5c', { x5c }],
    ['x5c and x5t', { x5c, x5t: encode('x'), 'x5t#S256': encode('y') }],
    ['url and iss', { url: attacker, iss: attacker }],
    ['epk', { epk: jwk }],
  ]
  return {
    name: 'keys that a token brings along',
    // Keys come from the environment alone: the worker ignores every other header parameter that carries one.
    accepted: [
      accept('jwk of a stranger under a right signature', make({ jwk })),
      accept('jku and x5u under a right signature', make({ jku: attacker, x5u: attacker })),
      accept('x5c under a right signature', make({ x5c: 'not even a list' })),
    ],
    refused: carried.flatMap(([what, more]) => [
      refuse(`${what}, under a known kid`, make(more, {}, strangerKey)),
      refuse(`${what}, under its own kid`, make({ ...more, kid: 'attacker' }, {}, strangerKey)),
      refuse(`${what}, without a kid`, make({ ...more, kid: undefined }, {}, strangerKey)),
    ]),
  }
}
