import { kid, type TokenClass } from './base.ts'
import { strangeKids } from './key-set.ts'
import { privateOf } from './keys.ts'
import type { TokenMaker } from './maker.ts'

export function kids({
  attacker,
  make,
  accept,
  refuse,
  keys: { second, bare, firstOfKid, secondOfKid },
}: TokenMaker): TokenClass {
  const unknown: [string, unknown][] = [
    ['a path', '../../../../../../dev/null'],
    ['a path in percents', '..%2f..%2fkey-1'],
    ['a file', 'file:///etc/passwd'],
    ['a URL', attacker],
    ['SQL', "key-1' union select 'x' --"],
    ['a command', 'key-1; cat /etc/passwd'],
    ['a template', '{{7*7}}#{7*7}'],
    ['lines of a log', 'key-1\r\n{"level":"error","message":"forged"}\u001b[2J'],
    ['NUL', 'key-1\0'],
    ['NUL first', '\0key-1'],
    ['a blank after it', 'key-1 '],
    ['a blank before it', ' key-1'],
    ['upper case', 'KEY-1'],
    ['a zero-width space', 'key-1\u200b'],
    ['a look-alike', 'kеy-1'],
    ['half a surrogate pair', 'key-1\ud800'],
    ['an empty kid', ''],
    ['4000 characters', 'k'.repeat(4000)],
    ['the kid twice', 'key-1key-1'],
    ['a list in text', '["key-1"]'],
    ['a number', 1],
    ['zero', 0],
    ['true', true],
    ['nothing', null],
    ['a list', ['key-1']],
    ['an object', { kid: 'key-1' }],
    ['the kid of another key', 'key-2'],
    ['the kid of two other keys', 'shared'],
    ['the kid of an RSA key', 'rsa'],
    ['the kid of a symmetric key', 'oct'],
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '0', 'undefined', 'null'].map(
      (name): [string, unknown] => [name, name],
    ),
  ]
  return {
    name: 'kid',
    accepted: [
      accept('no kid: every key is tried', make({ kid: undefined })),
      accept('another key’s kid', make({ kid: 'key-2' }, {}, privateOf(second))),
      accept('the first of two keys of one kid', make({ kid: 'shared' }, {}, privateOf(firstOfKid))),
      accept('the second of two keys of one kid', make({ kid: 'shared' }, {}, privateOf(secondOfKid))),
      accept('no kid in the token nor in the key', make({ kid: undefined }, {}, privateOf(bare))),
      ...strangeKids.map((kid) => accept(`${JSON.stringify(kid)}, which is in the set`, make({ kid }))),
    ],
    refused: [
      ...unknown.map(([what, kid]) => refuse(`${what} as kid`, make({ kid }))),
      refuse('a key without a kid, under some kid', make({ kid: 'other' }, {}, privateOf(bare))),
      refuse('a key of a kid that is a number, under that number as text', make({ kid: '7' })),
      refuse('kid twice, the unknown one last', make(`{"alg":"ES256","kid":"${kid}","kid":"other"}`)),
      refuse('the kid of a key whose other is right', make({ kid: 'key-1' }, {}, privateOf(second))),
    ],
  }
}
