import { type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

/** Parts that decode to something other than a JSON object, or to one in an unusual form. */
export function json({ claims, header, make, accept, refuse }: TokenMaker): TokenClass {
  const bodyText = JSON.stringify(claims)
  const headText = JSON.stringify(header)
  const bytes = (...values: (string | number[])[]) =>
    Buffer.concat(values.map((value) => (typeof value === 'string' ? Buffer.from(value) : Buffer.from(value))))
  const inText = (text: string, ...broken: number[]) => bytes(text.slice(0, -1), ',"x":"', broken, '"}')
  const spoilt: [string, (text: string) => string | Uint8Array][] = [
    ['a byte order mark', (text) => `\ufeff${text}`],
    ['UTF-16', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 without a mark', (text) => Buffer.from(text, 'utf16le')],
    ['a byte of 255', (text) => inText(text, 0xff)],
    ['a byte that continues nothing', (text) => inText(text, 0x80)],
    ['an overlong slash', (text) => inText(text, 0xc0, 0xaf)],
    ['an overlong NUL', (text) => inText(text, 0xc0, 0x80)],
    ['half a surrogate pair in UTF-8', (text) => inText(text, 0xed, 0xa0, 0x80)],
    ['a pair of surrogates in UTF-8', (text) => inText(text, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80)],
    ['more than U+10FFFF', (text) => inText(text, 0xf4, 0x90, 0x80, 0x80)],
    ['a character cut short', (text) => inText(text, 0xe2, 0x82)],
    ['a byte too many at the end', (text) => bytes(text, [0xff])],
    ['NUL after it', (text) => `${text}\0`],
    ['NUL in a text', (text) => inText(text, 0)],
    ['a newline in a text', (text) => inText(text, 10)],
    ['a list', (text) => `[${text}]`],
    ['text', (text) => JSON.stringify(text)],
    ['null', () => 'null'],
    ['a number', () => '1'],
    ['true', () => 'true'],
    ['an empty object', () => '{}'],
    ['an empty list', () => '[]'],
    ['blanks', () => '  '],
    ['two values', (text) => `${text}${text}`],
    ['a comma too many', (text) => text.replace(/}$/, ',}')],
    ['a comment', (text) => `/**/${text}`],
    ['single quotes', (text) => text.replaceAll('"', "'")],
    ['a name without quotes', (text) => text.replace(/"(alg|sub)"/, '$1')],
    ['NaN in it', (text) => text.replace(/}$/, ',"x":NaN}')],
    ['Infinity in it', (text) => text.replace(/}$/, ',"x":Infinity}')],
    ['hex in it', (text) => text.replace(/}$/, ',"x":0x10}')],
    ['a leading zero in it', (text) => text.replace(/}$/, ',"x":01}')],
    ['a bad escape in it', (text) => text.replace(/}$/, ',"x":"\\x41"}')],
    ['no end', (text) => text.slice(0, -1)],
    ['a no-break space before it', (text) => `\u00a0${text}`],
    ['brackets without an end', () => '['.repeat(4000)],
    ['objects without an end', () => '{"a":'.repeat(900)],
    ['a list a thousand deep', () => '['.repeat(1000) + ']'.repeat(1000)],
  ]
  const written: [string, (text: string) => string][] = [
    ['blanks and newlines', (text) => ` \t\r\n${text.replaceAll(',', ' ,\n ')}\n`],
    ['escapes in the names', (text) => text.replace('"alg"', '"\\u0061lg"').replace('"sub"', '"\\u0073ub"')],
    ['U+10FFFF and U+2028', (text) => text.replace(/}$/, ',"x":"\u{10ffff}\u2028"}')],
    [
      'members in another order',
      (text) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).reverse())),
    ],
    ['a list five hundred deep', (text) => text.replace(/}$/, `,"x":${'['.repeat(500)}${']'.repeat(500)}}`)],
    ['an object three hundred deep', (text) => text.replace(/}$/, `,"x":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`)],
    [
      'numbers out of range',
      (text) => text.replace(/}$/, ',"x":[1e400,-1e400,-0,1e-400,123456789012345678901234567890]}'),
    ],
  ]
  return {
    name: 'JSON',
    accepted: written.flatMap(([what, write]) => [
      accept(`header with ${what}`, make(write(headText))),
      accept(`payload with ${what}`, make({}, write(bodyText))),
    ]),
    refused: [
      ...spoilt.flatMap(([what, spoil]) => [
        refuse(`header: ${what}`, make(spoil(headText))),
        refuse(`payload: ${what}`, make({}, spoil(bodyText))),
      ]),
      refuse('sub twice, an empty one last', make({}, bodyText.replace(/}$/, ',"sub":""}'))),
      refuse('exp twice, the past one last', make({}, bodyText.replace(/}$/, ',"exp":1}'))),
      refuse('iss twice, a wrong one last', make({}, bodyText.replace(/}$/, ',"iss":"x"}'))),
    ],
  }
}
