import { kid, part, type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

export function algorithms({ make, accept, refuse, genuine, body }: TokenMaker): TokenClass {
  const nones = ['n', 'N'].flatMap((a) =>
    ['o', 'O'].flatMap((b) => ['n', 'N'].flatMap((c) => ['e', 'E'].map((d) => a + b + c + d))),
  )
  const spelled = [
    'es256',
    'Es256',
    'eS256',
    ' ES256',
    'ES256 ',
    'ES256\0',
    'ＥＳ256',
    'ES-256',
    'ES 256',
    'ES2 56',
    'EC256',
    'ES0256',
    '',
  ]
  const others = [
    'ES384',
    'ES512',
    'ES256K',
    'HS256',
    'HS384',
    'HS512',
    'RS256',
    'PS256',
    'EdDSA',
    'Ed25519',
    'ESP256',
    'ECDH-ES',
    'dir',
    'ML-DSA-44',
  ]
  const valued: unknown[] = [256, null, true, ['ES256'], { alg: 'ES256' }, ['ES256', 'none'], 0]
  return {
    name: 'alg',
    accepted: [
      accept('ES256', genuine),
      accept('alg twice, ES256 last', make(`{"alg":"none","kid":"${kid}","alg":"ES256"}`)),
    ],
    refused: [
      ...nones.flatMap((alg) => [
        refuse(`${alg}, no signature`, `${part({ alg, kid })}.${body}.`),
        refuse(`${alg}, a right signature`, make({ alg })),
        refuse(`${alg}, a zero for the signature`, `${part({ alg, kid })}.${body}.AA`),
      ]),
      ...spelled.map((alg) => refuse(`${JSON.stringify(alg)}, a right signature`, make({ alg }))),
      ...others.map((alg) => refuse(`${alg} over a signature of ES256`, make({ alg }))),
      ...valued.map((alg) => refuse(`${JSON.stringify(alg)} for the algorithm`, make({ alg }))),
      refuse('no algorithm', make({ alg: undefined })),
      refuse('the algorithm under another name', make({ alg: undefined, Alg: 'ES256', ALG: 'ES256' })),
      refuse('alg twice, none last', make(`{"alg":"ES256","kid":"${kid}","alg":"none"}`)),
      refuse('the algorithm among the claims', make({ alg: undefined }, { alg: 'ES256' })),
    ],
  }
}
