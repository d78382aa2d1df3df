import { type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

export function parties({ make, accept, refuse, iss, aud }: TokenMaker): TokenClass {
  const near = (value: string): [string, unknown][] => [
    ['absent', undefined],
    ['empty', ''],
    ['null', null],
    ['a number', 1],
    ['true', true],
    ['an object', { [value]: value }],
    ['a list in a list', [[value]]],
    ['an empty list', []],
    ['in upper case', value.toUpperCase()],
    ['with a slash', `${value}/`],
    ['with a blank', `${value} `],
    ['with NUL', `${value}\0`],
    ['cut short', value.slice(0, -1)],
    ['one of two in a text', `${value} other`],
    ['of somebody else', 'https://other.example'],
    ['a pattern', '*'],
  ]
  return {
    name: 'iss and aud',
    accepted: [
      accept('aud in a list', make({}, { aud: [aud] })),
      accept('aud in a list of several', make({}, { aud: ['other', aud, 'more'] })),
      accept('aud in a list of anything', make({}, { aud: [1, null, { a: 1 }, aud] })),
    ],
    refused: [
      ...near(iss).map(([what, value]) => refuse(`iss ${what}`, make({}, { iss: value }))),
      refuse('iss in a list', make({}, { iss: [iss] })),
      refuse('iss by another name of its host', make({}, { iss: iss.replace('https', 'http') })),
      refuse('iss with a port', make({}, { iss: iss.replace('.example', '.example:443') })),
      ...near(aud).map(([what, value]) => refuse(`aud ${what}`, make({}, { aud: value }))),
      refuse('aud not in its list', make({}, { aud: ['other', `${aud}x`] })),
      refuse('iss and aud in each other’s place', make({}, { iss: aud, aud: iss })),
      refuse('azp for aud', make({}, { aud: undefined, azp: aud })),
    ],
  }
}
