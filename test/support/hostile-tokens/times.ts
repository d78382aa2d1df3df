import { type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

export function times({ now, claims, make, accept, refuse }: TokenMaker): TokenClass {
  const text = (member: string) => JSON.stringify({ ...claims, exp: undefined }).replace(/}$/, `,${member}}`)
  const raw = [
    '1e400',
    '-1e400',
    '1e-400',
    '-0',
    '"Infinity"',
    '"NaN"',
    'null',
    'true',
    '{}',
    '[]',
    `[${now + 900}]`,
    '""',
  ]
  const numbers: [string, unknown][] = [
    ['now', now],
    ['a second ago', now - 1],
    ['a moment ago', now - 0.001],
    ['an hour ago', now - 3600],
    ['zero', 0],
    ['minus one', -1],
    ['negative', -(now + 900)],
    ['text', String(now + 900)],
    ['a date', new Date((now + 900) * 1000).toISOString()],
  ]
  const ahead: [string, unknown][] = [
    ['ten minutes ahead', now + 600],
    ['a day ahead', now + 86_400],
    ['in milliseconds', now * 1000],
    ['as text', String(now)],
    ['as a date', new Date(now * 1000).toISOString()],
    ['null', null],
    ['true', true],
    ['a list', [now]],
    ['an object', {}],
    ['empty', ''],
  ]
  return {
    name: 'exp, nbf and iat',
    accepted: [
      accept('exp in five minutes', make({}, { exp: now + 300 })),
      accept('exp with a fraction', make({}, { exp: now + 900.5 })),
      accept('exp as 4e9', make({}, text('"exp":4e9'))),
      accept('exp of the largest integer', make({}, { exp: Number.MAX_SAFE_INTEGER })),
      accept('exp of the largest number', make({}, { exp: Number.MAX_VALUE })),
      ...(['nbf', 'iat'] as const).flatMap((claim) => [
        accept(`${claim} 5 s ahead`, make({}, { [claim]: now + 5 })),
        accept(`${claim} now`, make({}, { [claim]: now })),
        accept(`no ${claim}`, make({}, { [claim]: undefined })),
        accept(`${claim} of zero`, make({}, { [claim]: 0 })),
        accept(`${claim} negative`, make({}, { [claim]: -1 })),
        accept(`${claim} with a fraction`, make({}, { [claim]: now - 0.5 })),
        accept(`${claim} years ago`, make({}, { [claim]: 1 })),
      ]),
    ],
    refused: [
      refuse('no exp', make({}, { exp: undefined })),
      ...numbers.map(([what, exp]) => refuse(`exp: ${what}`, make({}, { exp }))),
      ...raw.map((exp) => refuse(`exp of ${exp}`, make({}, text(`"exp":${exp}`)))),
      refuse('exp in another case', make({}, { exp: undefined, Exp: now + 900, EXP: now + 900 })),
      refuse('exp in the header', make({ exp: now + 900 }, { exp: undefined })),
      ...(['nbf', 'iat'] as const).flatMap((claim) => [
        ...ahead.map(([what, value]) => refuse(`${claim} ${what}`, make({}, { [claim]: value }))),
        refuse(
          `${claim} of 1e400`,
          make({}, JSON.stringify({ ...claims, [claim]: undefined }).replace(/}$/, `,"${claim}":1e400}`)),
        ),
      ]),
    ],
  }
}
