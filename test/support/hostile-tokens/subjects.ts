import { type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

export function subjects({ make, accept, refuse }: TokenMaker): TokenClass {
  const strange = [
    ' ',
    '__proto__',
    'constructor',
    "' or 1=1 --",
    '{"sub":"usr_2"}',
    'ü😀\u2028',
    'a\nb\u001b[2J',
    '../..',
    'x'.repeat(2000),
  ]
  const wrong: unknown[] = ['', 0, 1, null, true, false, [], ['usr_1'], {}, { sub: 'usr_1' }]
  return {
    name: 'sub',
    accepted: strange.map((sub) => accept(`sub ${JSON.stringify(sub).slice(0, 40)}`, make({}, { sub }), sub)),
    refused: [
      refuse('no sub', make({}, { sub: undefined })),
      ...wrong.map((sub) => refuse(`sub ${JSON.stringify(sub)}`, make({}, { sub }))),
      refuse('sub in another case', make({}, { sub: undefined, Sub: 'usr_1' })),
      refuse('sub in the header', make({ sub: 'usr_1' }, { sub: undefined })),
      refuse('user_id for sub', make({}, { sub: undefined, user_id: 'usr_1', id: 'usr_1' })),
    ],
  }
}
