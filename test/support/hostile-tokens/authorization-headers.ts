import { type Lines, lines, longestHeader, type Refused, type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

export function authorizationHeaders({
  make,
  genuine,
  head,
  body,
  signature,
  keys: { strangerKey },
}: TokenMaker): TokenClass {
  /** @returns a genuine token that makes the whole header as long as wanted. */
  const long = (length: number) => {
    for (let inHead = 0; ; inHead++) {
      const token = (inBody: number) => make({ pad: 'h'.repeat(inHead) }, { pad: 'b'.repeat(inBody) })
      const lacking = length - `Bearer ${token(0)}`.length
      for (const inBody of [0, 1].map((more) => Math.floor((lacking * 3) / 4) + more)) {
        if (`Bearer ${token(inBody)}`.length === length) return token(inBody)
      }
    }
  }
  const t = genuine
  const forms: [string, string][] = [
    ['nothing', ''],
    ['the scheme alone', 'Bearer'],
    ['the token alone', t],
    ['a tab', `Bearer\t${t}`],
    ['a blank and a tab', `Bearer \t${t}`],
    ['a no-break space', `Bearer\xa0${t}`],
    ['no blank', `Bearer${t}`],
    ['a colon', `Bearer: ${t}`],
    ['an equals sign', `Bearer=${t}`],
    ['token=', `Bearer token=${t}`],
    ['quotes', `Bearer "${t}"`],
    ['angle brackets', `Bearer <${t}>`],
    ['a comma after it', `Bearer ${t},`],
    ['a comma before it', `, Bearer ${t}`],
    ['a semicolon after it', `Bearer ${t};`],
    ['a parameter after it', `Bearer ${t}, realm="x"`],
    ['something after it', `Bearer ${t} x`],
    ['two tokens', `Bearer ${t}, Bearer ${t}`],
    ['two tokens, a comma alone', `Bearer ${t},${t}`],
    ['two tokens, a blank', `Bearer ${t} ${t}`],
    ['the scheme twice', `Bearer Bearer ${t}`],
    ['another scheme first', `Basic eDp5, Bearer ${t}`],
    ['Basic', `Basic ${t}`],
    ['Basic with credentials', `Basic ${Buffer.from(`x:${t}`).toString('base64')}`],
    ['DPoP', `DPoP ${t}`],
    ['Token', `Token ${t}`],
    ['JWT', `JWT ${t}`],
    ['Digest', `Digest ${t}`],
    ['Negotiate', `Negotiate ${t}`],
    ['MAC', `MAC ${t}`],
    ['Bearers', `Bearers ${t}`],
    ['Beare', `Beare ${t}`],
    ['BEARER with a look-alike', `B\xc8ARER ${t}`],
    ['a no-break space after it', `Bearer ${t}\xa0`],
    ['a no-break space before it', `\xa0Bearer ${t}`],
    ['a form feed after it', `Bearer ${t}\f`],
    ['undefined', 'Bearer undefined'],
    ['null', 'Bearer null'],
    ['[object Object]', 'Bearer [object Object]'],
    ['8 KiB and a byte', `Bearer ${long(longestHeader + 1)}`],
    ['16 KiB', `Bearer ${long(2 * longestHeader)}`],
    ['16 KiB of dots', `Bearer ${'.'.repeat(2 * longestHeader)}`],
    ['16 KiB of letters', `Bearer ${'A'.repeat(2 * longestHeader)}`],
    ['8000 blanks', `Bearer ${' '.repeat(8000)}${t}`],
  ]
  const taken: [string, Lines][] = [
    ['bearer', lines(`bearer ${t}`)],
    ['BEARER', lines(`BEARER ${t}`)],
    ['bEaReR', lines(`bEaReR ${t}`)],
    ['two blanks behind the scheme', lines(`Bearer  ${t}`)],
    ['blanks behind the value, which are no part of it', lines(`Bearer ${t}   `)],
    ['a folded line, which is a blank (RFC 9112 section 5.2)', lines(`Bearer\r\n ${t}`)],
    ['a tab behind the value', lines(`Bearer ${t}\t`)],
    ['blanks before the value, which are no part of it', lines(`   Bearer ${t}`)],
    ['AUTHORIZATION', [['AUTHORIZATION', `Bearer ${t}`]]],
    ['exactly 8 KiB', lines(`Bearer ${long(longestHeader)}`)],
    ['one byte less', lines(`Bearer ${long(longestHeader - 1)}`)],
  ]
  const bad = make({}, {}, strangerKey)
  const repeated: [string, string[]][] = [
    ['two headers', [`Bearer ${t}`, `Bearer ${t}`]],
    ['two headers, a wrong one last', [`Bearer ${t}`, `Bearer ${bad}`]],
    ['two headers, a wrong one first', [`Bearer ${bad}`, `Bearer ${t}`]],
    ['two headers, one of them Basic', ['Basic eDp5', `Bearer ${t}`]],
    ['two headers, an empty one last', [`Bearer ${t}`, '']],
    ['a token in two headers', [`Bearer ${head}.`, `${body}.${signature}`]],
    ['three headers', [`Bearer ${t}`, `Bearer ${t}`, `Bearer ${t}`]],
  ]
  return {
    name: 'the header',
    accepted: taken.map(([what, lines]) => [`header: ${what}`, { lines, id: 'usr_1' }]),
    refused: [
      ...forms.map(([what, value]): Refused => [`header: ${what}`, lines(value)]),
      ...repeated.map(([what, values]): Refused => [what, values.map((value) => ['authorization', value])]),
      [
        'two headers in two cases',
        [
          ['Authorization', `Bearer ${t}`],
          ['authorization', `Bearer ${t}`],
        ],
      ],
    ],
  }
}
