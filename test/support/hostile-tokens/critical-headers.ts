import { ecdsa, encode, kid, part, type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

export function criticalHeaders({ claims, header, make, accept, refuse, keys: { key } }: TokenMaker): TokenClass {
  const crits: unknown[] = [
    [],
    ['exp'],
    ['b64'],
    ['alg'],
    ['crit'],
    ['unknown'],
    [''],
    [1],
    [null],
    'b64',
    '',
    {},
    null,
    true,
    false,
    0,
    ['__proto__'],
  ]
  const b64s: unknown[] = [true, false, null, 'false', '', 0, 1, []]
  const detached = `${part({ ...header, b64: false, crit: ['b64'] })}.`
  const plain = JSON.stringify(claims)
  return {
    name: 'crit and b64',
    accepted: [
      accept('crit in another case', make({ Crit: ['b64'], CRIT: ['exp'], B64: false })),
      accept('crit and b64 among the claims', make({}, { crit: ['b64'], b64: false })),
      accept('a parameter that nobody knows', make({ 'https://example.com/ext': true, exp: 1 })),
    ],
    refused: [
      ...crits.map((crit) => refuse(`crit ${JSON.stringify(crit)}`, make({ crit }))),
      ...crits
        .slice(0, 6)
        .map((crit) =>
          refuse(`crit ${JSON.stringify(crit)}, all of it there`, make({ crit, b64: true, exp: 1, unknown: 1 })),
        ),
      ...b64s.map((b64) => refuse(`b64 ${JSON.stringify(b64)}`, make({ b64 }))),
      refuse('crit twice, an empty one last', make(`{"alg":"ES256","kid":"${kid}","crit":["b64"],"crit":[]}`)),
      refuse('a payload that is not encoded', `${detached}${plain}.${encode(ecdsa(detached + plain, key))}`),
      refuse(
        'a payload that is encoded and signed as it stands',
        `${detached}${part(claims)}.${encode(ecdsa(detached + plain, key))}`,
      ),
      refuse('a payload that is not there', `${detached}.${encode(ecdsa(detached + plain, key))}`),
    ],
  }
}
