import { type Json, type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

/** A claim that Postgres cannot store would make every policy fail, so its token is refused. */
export function unstorable({ make, accept, refuse }: TokenMaker): TokenClass {
  const spoilt: [string, string][] = [
    ['NUL', 'a\0b'],
    ['NUL alone', '\0'],
    ['the first half of a pair', '\ud83d'],
    ['the second half of a pair', '\ude00'],
    ['a pair the wrong way round', '\ude00\ud83d'],
  ]
  const held: [string, string][] = [
    ['a whole pair', '😀'],
    ['a backslash and u0000', '\\u0000'],
    ['a backslash and ud800', '\\ud800'],
    ['every other control', '\u0001\u0007\b\u001b\u001f\u007f\u0080\u009f'],
    ['no characters', '\ufffe\uffff\ufdd0'],
    ['a byte order mark', '\ufeff'],
    ['line separators', '\u2028\u2029'],
    ['turned text', '\u202eabc\u202c'],
  ]
  const places: [string, (text: string) => Json][] = [
    ['a claim', (text) => ({ x: text })],
    ['a claim’s name', (text) => ({ [text]: 1 })],
    ['a list', (text) => ({ x: [1, [text]] })],
    ['a name far inside', (text) => ({ x: [{ y: { [text]: null } }] })],
    ['the email', (text) => ({ email: text })],
  ]
  return {
    name: 'claims that Postgres cannot hold',
    accepted: places.flatMap(([where, put]) =>
      held.map(([what, text]) => accept(`${what} in ${where}`, make({}, put(text)))),
    ),
    refused: [
      ...places.flatMap(([where, put]) =>
        spoilt.map(([what, text]) => refuse(`${what} in ${where}`, make({}, put(text)))),
      ),
      ...spoilt.map(([what, text]) => refuse(`${what} in sub`, make({}, { sub: `usr_${text}` }))),
    ],
  }
}
