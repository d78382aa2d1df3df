import { kid, type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

export function types({ make, accept, refuse, genuine }: TokenMaker): TokenClass {
  const right = [
    'JWT',
    'jwt',
    'Jwt',
    'at+jwt',
    'AT+JWT',
    'at+JWT',
    'application/at+jwt',
    'Application/AT+jwt',
    'application/jwt',
  ]
  const wrong: unknown[] = [
    ...[
      'dpop+jwt',
      'id_token',
      'ID',
      'JWS',
      'JOSE',
      'JOSE+JSON',
      'jwt+at',
      'rt+jwt',
      'refresh+jwt',
      'secevent+jwt',
      'logout+jwt',
      'kb+jwt',
    ],
    ...[
      'entity-statement+jwt',
      'oauth-authz-req+jwt',
      'token-introspection+jwt',
      'vc+sd-jwt',
      'at+at+jwt',
      'at jwt',
      'at+',
      '+jwt',
      'a+jwt',
    ],
    ...[
      'JWT ',
      ' JWT',
      'JWT\n',
      '\nJWT',
      'JWT\0',
      'at+jwt;x=1',
      '',
      'undefined',
      'application/',
      'application/json',
      'application/application/jwt',
    ],
    ...['text/jwt', '/jwt', 'xJWT', 'JWTx', 'ＪＷＴ', 1, 0, true, null, ['JWT'], {}, ['at+jwt', 'JWT']],
  ]
  return {
    name: 'typ',
    accepted: [
      accept('no typ', genuine),
      ...right.map((typ) => accept(`typ ${typ}`, make({ typ }))),
      accept('typ in another case', make({ TYP: 'dpop+jwt' })),
      accept('cty', make({ cty: 'JWT' })),
    ],
    refused: [
      ...wrong.map((typ) => refuse(`typ ${JSON.stringify(typ)}`, make({ typ }))),
      refuse('typ twice, a wrong one last', make(`{"alg":"ES256","kid":"${kid}","typ":"JWT","typ":"dpop+jwt"}`)),
    ],
  }
}
