import { kid, type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

export function prototypes({ now, claims, header, make, accept, refuse }: TokenMaker): TokenClass {
  const with_ = (member: string) => JSON.stringify(claims).replace(/^{/, `{${member},`)
  const inner = JSON.stringify(claims)
  return {
    name: 'names of every object',
    accepted: [
      accept('__proto__ with another role', make({}, with_('"__proto__":{"role":"anon","sub":"usr_2"}'))),
      accept('__proto__ of null', make({}, with_('"__proto__":null'))),
      accept('constructor and prototype', make({}, with_('"constructor":{"prototype":{"role":"anon"}}'))),
      accept('toString, valueOf, toJSON, then', make({}, with_('"toString":1,"valueOf":1,"toJSON":1,"then":1'))),
      accept('__proto__ in the header', make(`{"__proto__":{"alg":"none"},"alg":"ES256","kid":"${kid}"}`)),
      accept('hasOwnProperty in the header', make(`{"hasOwnProperty":1,"alg":"ES256","kid":"${kid}"}`)),
    ],
    refused: [
      refuse('all claims in __proto__', make({}, `{"__proto__":${inner}}`)),
      refuse('all claims in constructor', make({}, `{"constructor":{"prototype":${inner}}}`)),
      refuse(
        'exp in __proto__',
        make({}, JSON.stringify({ ...claims, exp: undefined }).replace(/^{/, `{"__proto__":{"exp":${now + 900}},`)),
      ),
      refuse(
        'sub in __proto__',
        make({}, JSON.stringify({ ...claims, sub: undefined }).replace(/^{/, '{"__proto__":{"sub":"usr_1"},')),
      ),
      refuse('the header in __proto__', make(`{"__proto__":${JSON.stringify(header)}}`)),
      refuse('alg in __proto__', make(`{"__proto__":{"alg":"ES256"},"kid":"${kid}"}`)),
    ],
  }
}
