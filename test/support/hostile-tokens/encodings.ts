import { randomBytes } from 'node:crypto'
import { ecdsa, encode, part, search, type TokenClass, withSpareBits } from './base.ts'
import type { TokenMaker } from './maker.ts'

/** Parts that are not base64url, signed as they stand: a lenient decoder would find them genuine. */
export function encodings({
  claims,
  header,
  signParts,
  make,
  accept,
  refuse,
  genuine,
  head,
  body,
  signature,
  keys: { key },
}: TokenMaker): TokenClass {
  // The parts have every length modulo 3 and both special characters, so that each way to spoil one has an effect.
  const one = part({ ...header, pad: '??>>~~' })
  const whole = [one, part({ ...claims, pad: '??>>~~' })] as const
  const [first, , third] = genuine.split('.') as [string, string, string]
  const at = (text: string, inside: string) => text.slice(0, 9) + inside + text.slice(9)
  const repairs: [string, (text: string) => string][] = [
    ['=', (text) => `${text}=`],
    ['==', (text) => `${text}==`],
    ['right padding', (text) => text + '='.repeat((4 - (text.length % 4)) % 4 || 4)],
    ['= inside', (text) => at(text, '=')],
    ['%3D', (text) => `${text}%3D`],
    ['a blank inside', (text) => at(text, ' ')],
    ['a no-break space before', (text) => `\xa0${text}`],
    ['a blank and a letter after', (text) => `${text} A`],
    ['a tab inside', (text) => at(text, '\t')],
    ['a folded line inside', (text) => at(text, '\r\n ')],
    ['an escaped newline inside', (text) => at(text, '\\n')],
    ['%0A inside', (text) => at(text, '%0A')],
    ['a byte of 255 inside', (text) => at(text, '\xff')],
    ['a no-break space inside', (text) => at(text, '\xa0')],
    ['a form feed inside', (text) => at(text, '\f')],
    ['DEL inside', (text) => at(text, '\x7f')],
    ['a tilde inside', (text) => at(text, '~')],
    ['an asterisk inside', (text) => at(text, '*')],
    ['a comma inside', (text) => at(text, ',')],
    ['a quote inside', (text) => at(text, '"')],
    ['+ inside', (text) => at(text, '+')],
    ['/ inside', (text) => at(text, '/')],
    ['quotes around it', (text) => `"${text}"`],
    ['a byte order mark before it', (text) => `\xef\xbb\xbf${text}`],
    ['one more character', (text) => `${text}A`],
    ['four more characters', (text) => `${text}AAAA`],
    ['other trailing bits', withSpareBits],
  ]
  const signed = whole.join('.')
  const found = search(
    () => ecdsa(signed, key),
    (bytes) => /[-_]/.test(encode(bytes)),
  )
  const standard = (text: string) => Buffer.from(text, 'base64url').toString('base64').replace(/=+$/, '')
  const standardHead = standard(whole[0])
  const standardBody = standard(whole[1])
  const parts: [string, string][] = [
    ['no header', `.${body}.${signature}`],
    ['no payload', `${first}..${third}`],
    ['no signature', `${first}.${body}.`],
    ['nothing but dots', '..'],
    ['a dot', '.'],
    ['nothing but a signature', `..${third}`],
    ['one part', first],
    ['two parts', `${first}.${body}`],
    ['four parts', `${genuine}.${third}`],
    ['five parts', `${genuine}.${third}.${third}`],
    ['a dot after it', `${genuine}.`],
    ['a dot before it', `.${genuine}`],
    ['two dots between', genuine.replace('.', '..')],
    [
      'an encrypted one',
      [
        part({ alg: 'dir', enc: 'A256GCM' }),
        '',
        encode(randomBytes(12)),
        encode(randomBytes(32)),
        encode(randomBytes(16)),
      ].join('.'),
    ],
    ['its JSON form', JSON.stringify({ protected: first, payload: body, signature: third })],
    ['its parts in another order', [body, first, third].join('.')],
    ['commas for dots', genuine.replaceAll('.', ',')],
    ['encoded once more', encode(genuine)],
    ['a token inside a token', make({ cty: 'JWT' }, genuine)],
  ]
  return {
    name: 'encodings',
    accepted: [
      accept('characters that base64 has others for', `${signed}.${encode(found)}`),
      accept('header of another length', make({ pad: 'x' })),
      accept('header of a third length', make({ pad: 'xx' })),
      accept('payload of another length', make({}, { pad: 'x' })),
      accept('payload of a third length', make({}, { pad: 'xx' })),
    ],
    refused: [
      ...repairs.flatMap(([what, spoil]) => [
        refuse(`${what}: header`, signParts(spoil(head), body)),
        refuse(`${what}: header that was signed without`, `${spoil(head)}.${body}.${signature}`),
        refuse(`${what}: payload`, signParts(head, spoil(body))),
        refuse(`${what}: payload that was signed without`, `${head}.${spoil(body)}.${signature}`),
        refuse(`${what}: signature`, `${head}.${body}.${spoil(signature)}`),
      ]),
      refuse('standard base64: header', signParts(standardHead, whole[1])),
      refuse('standard base64: payload', signParts(whole[0], standardBody)),
      refuse('standard base64: signature', `${signed}.${standard(encode(found))}`),
      ...parts.map(([what, token]) => refuse(what, token)),
    ],
  }
}
