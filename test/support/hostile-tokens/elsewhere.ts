import { bearer, type Refused, type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

/** Headers other than `Authorization`, which carry no identity (contract 3.1). */
export function elsewhere({ genuine }: TokenMaker): TokenClass {
  const names = [
    'apikey',
    'x-api-key',
    'x-authorization',
    'proxy-authorization',
    'x-forwarded-authorization',
    'authentication',
    'x-access-token',
    'token',
    'dpop',
    'authorization-x',
    'x-jwt-assertion',
    'cf-access-jwt-assertion',
  ]
  return {
    name: 'elsewhere',
    accepted: [
      [
        'beside an apikey and cookies',
        { lines: [['apikey', 'x'], ['cookie', 'access_token=x'], ...bearer(genuine)], id: 'usr_1' },
      ],
    ],
    refused: [
      ...names.flatMap((name): Refused[] => [
        [`in ${name}`, [[name, genuine]]],
        [`in ${name}, as Bearer`, [[name, `Bearer ${genuine}`]]],
      ]),
      ['in a cookie', [['cookie', `access_token=${genuine}; authorization=Bearer ${genuine}; token=${genuine}`]]],
      ['as the protocol of a web socket', [['sec-websocket-protocol', `bearer, ${genuine}`]]],
      ['nowhere', []],
    ],
  }
}
