/** Refusals as a terminal shows them: columns, cuts, frames of several places, the footer, colour (contract 8.2, 10.7). */
import { PassThrough } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import type { Location } from '../../build/declaration.ts'
import type { Refusal } from '../../build/refusals/index.ts'
import { render } from '../../build/render.ts'

const file = 'src/a.ts'

/** @returns the first place of a text in a source. */
function placeOf(source: string, text: string, from = 0): Location {
  const start = source.indexOf(text, from)
  expect([text, start]).not.toEqual([text, -1])
  const at = (offset: number) => {
    const lines = source.slice(0, offset).split('\n')
    return { line: lines.length, column: lines.at(-1)!.length + 1 }
  }
  const [first, last] = [at(start), at(start + text.length)]
  return { file, start, end: start + text.length, ...first, endLine: last.line, endColumn: last.column }
}

function refusalAt(place: Location, others: Partial<Refusal> = {}): Refusal {
  const texts = { slug: 'route-twice' as const, severity: 'error' as const, message: 'twice', fix: 'remove it' }
  return { ...texts, place, related: [], isMasked: false, edits: [], ...others }
}

interface Terminal {
  columns?: number
  isTTY?: boolean
}

function stream({ columns, isTTY = false }: Terminal): NodeJS.WriteStream {
  const fields = { isTTY, getColorDepth: () => 24, ...(columns !== undefined && { columns }) }
  return Object.assign(new PassThrough(), fields) as unknown as NodeJS.WriteStream
}

function shown(refusals: Refusal[], sources: string | Record<string, string>, terminal?: Terminal): string {
  const texts = typeof sources === 'string' ? { [file]: sources } : sources
  return render(refusals, { sourceOf: (name) => texts[name], ...(terminal && { stream: stream(terminal) }) })
}

/** @returns the lines of one refusal between its head and its fix. */
function frameOf(source: string, refusal: Refusal, columns = 80): string {
  const lines = shown([refusal], source, { columns }).split('\n')
  const fix = lines.findIndex((line) => line.startsWith('  fix: '))
  return lines.slice(lines.findIndex((line) => line.startsWith('  --> ')) + 1, fix).join('\n')
}

describe('8.2 the mark stands below what it marks', () => {
  it.each([
    ['wide characters', `@Get('検索/:品番') x`, ':品番', `  1 | @Get('検索/:品番') x\n    |            ^^^^^`],
    ['an emoji of several code points', `'👩‍👩‍👧 ok' bad`, 'bad', `  1 | '👩‍👩‍👧 ok' bad\n    |         ^^^`],
    ['an emoji that is marked itself', `a 👍🏽 b`, '👍🏽', '  1 | a 👍🏽 b\n    |   ^^'],
    ['combining marks', `e\u0301e\u0301 bad`, 'bad', '  1 | e\u0301e\u0301 bad\n    |    ^^^'],
    ['an accent that is marked with its letter', `e\u0301 x`, 'e\u0301', '  1 | e\u0301 x\n    | ^'],
    ['tabs, which go to stops', '\tab\tbad\t.', 'bad', '  1 |     ab  bad .\n    |         ^^^'],
    ['a tab that is marked itself', 'ab\tc', '\t', '  1 | ab  c\n    |   ^^'],
    ['ASCII alone', 'ab bad', 'bad', '  1 | ab bad\n    |    ^^^'],
  ])('%s', (_what, source, marked, expected) => {
    expect(frameOf(source, refusalAt(placeOf(source, marked)))).toBe(expected)
  })

  it('of a place without extent one column is marked, also at the end of a line', () => {
    const place = { ...placeOf('ab\n', 'ab'), start: 2, column: 3 }
    expect(frameOf('ab\n', refusalAt(place))).toBe('  1 | ab\n    |   ^')
  })

  it('of a place of several lines the first is marked to its end', () => {
    const source = 'call(\n  1)\n'
    expect(frameOf(source, refusalAt(placeOf(source, '(\n  1)')))).toBe('  1 | call(\n    |     ^')
  })

  it.each(['\r\n', '\r', '\n', '\u2028'])('lines end where the compiler ends them: %j', (end) => {
    const place = { ...placeOf('first\nbad', 'bad'), start: 5 + end.length, end: 8 + end.length }
    expect(frameOf(`first${end}bad`, refusalAt(place))).toBe('  2 | bad\n    | ^^^')
  })
})

describe('10.7 nothing of the source acts on the terminal', () => {
  const source = `a\u001b[31m\u202e\u009b bad`

  it('control characters and marks of direction are shown by their codes, and the mark stands where it should', () => {
    expect(frameOf(source, refusalAt(placeOf(source, 'bad')))).toBe(
      '  1 | a\\x1b[31m\\u202e\\x9b bad\n    |                     ^^^',
    )
  })

  it('in messages, fixes, labels and names of files too; lines of the bundler become one', () => {
    const place = { ...placeOf('x', 'x'), file: 'src/\u001b.ts' }
    const related = [{ message: 'first\u0007', place: { ...place, line: 20, endLine: 20 } }]
    const text = shown([refusalAt(place, { message: 'one\n  two\u001b[0m', fix: 'a\u001bb', related })], 'x')
    expect(text).toContain(
      'error[route-twice]: one two\\x1b[0m\n  --> src/\\x1b.ts:1:1\n  --> src/\\x1b.ts:20:1 first\\x07\n  fix: a\\x1bb\n',
    )
  })

  it('blanks of a quoted value stay as many as they are', () => {
    expect(shown([refusalAt(placeOf('x', 'x'), { message: 'the path "a  b"' })], 'x')).toContain('the path "a  b"\n')
  })
})

describe('8.2 a line that is wider than the terminal', () => {
  const words = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => `word${from + index}`).join(' ')

  it('is cut after a word, and the cut is shown, where what is marked stands at its beginning', () => {
    const source = `bad ${words(40)}`
    expect(frameOf(source, refusalAt(placeOf(source, 'bad')), 40)).toBe(
      '  1 | bad word0 word1 word2 word3 …\n    | ^^^',
    )
  })

  it('is cut before a word where it stands at its end', () => {
    const source = `${words(40)} bad`
    expect(frameOf(source, refusalAt(placeOf(source, 'bad')), 40)).toBe(
      '  1 | … word36 word37 word38 word39 bad\n    |                               ^^^',
    )
  })

  it('is cut on both ends where it stands between', () => {
    const source = `${words(40)} bad ${words(40, 50)}`
    expect(frameOf(source, refusalAt(placeOf(source, 'bad')), 40)).toBe(
      '  1 | … word39 bad word50 word51 …\n    |          ^^^',
    )
  })

  it('is not cut where it just fits', () => {
    const source = `bad ${'x'.repeat(30)}`
    expect(frameOf(source, refusalAt(placeOf(source, 'bad')), 40)).toBe(`  1 | ${source}\n    | ^^^`)
    expect(frameOf(`${source}y`, refusalAt(placeOf(source, 'bad')), 40)).toBe(
      `  1 | bad …\n    | ^^^`.replace('bad …', `bad ${'x'.repeat(29)}…`),
    )
  })

  it('a span that is wider itself is marked from its beginning, and below the sign of the cut', () => {
    const source = `const a = "${'x'.repeat(200)}"`
    const [line, mark] = frameOf(source, refusalAt(placeOf(source, source.slice(10))), 40).split('\n')
    expect(line).toBe(`  1 | const a = "${'x'.repeat(22)}…`)
    expect(mark).toBe(`    |           ${'^'.repeat(24)}`)
  })

  it('everywhere and at every width: the lines fit, and the marked text stands above its mark', () => {
    for (const unit of ['abc d ', '品番 ', 'e\u0301 ', '\tx ', '👍🏽 y', 'long'.repeat(9)]) {
      for (const before of [0, 1, 7, 30, 200]) {
        for (const after of [0, 1, 9, 300]) {
          for (const columns of [40, 61, 80, 140]) {
            const source = `${unit.repeat(before)}#MARKED#${unit.repeat(after)}`
            const about = [unit, before, after, columns]
            const [line = '', mark = ''] = frameOf(source, refusalAt(placeOf(source, '#MARKED#')), columns).split('\n')
            expect([...about, columnsOf(line) <= columns && mark.length <= columns]).toEqual([...about, true])
            expect([...about, columnsOf(line.slice(0, line.indexOf('#MARKED#')))]).toEqual([
              ...about,
              mark.indexOf('^'),
            ])
            expect([...about, mark.trim().slice(1).trim()]).toEqual([...about, '^^^^^^^^'])
          }
        }
      }
    }
  })

  it('of a megabyte without a blank costs no more than one of a screen', () => {
    const source = `${'x'.repeat(1_000_000)}bad${'é'.repeat(1_000_000)}`
    const [line, mark] = frameOf(source, refusalAt(placeOf(source, 'bad')), 80).split('\n')
    expect([line!.length, mark!.length - mark!.indexOf('^')]).toEqual([80, 3])
    expect(line!.slice(mark!.indexOf('^'), mark!.length)).toBe('bad')
  })

  /** Measures with a table of this test's few characters, independently of the renderer. */
  function columnsOf(text: string): number {
    return [...new Intl.Segmenter().segment(text)].reduce(
      (sum, { segment }) => sum + (/[品番👍]/u.test(segment) ? 2 : 1),
      0,
    )
  }
})

describe('8.2 sentences', () => {
  const long = { message: `${'the word '.repeat(20)}end`, fix: `${'do this '.repeat(20)}now` }
  const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length))

  it.each([
    [200, 200],
    [80, 80],
    [40, 40],
    [12, 40],
    [0, 80],
    [undefined, 80],
  ])('of a stream with %s columns break between words at %s', (columns, expected) => {
    const text = shown([refusalAt(placeOf('x', 'x'), long)], 'x', columns === undefined ? {} : { columns })
    expect(widest(text)).toBeLessThanOrEqual(expected)
    expect(widest(text)).toBeGreaterThan(expected - 10)
    expect(text.replace(/\s+/g, ' ')).toContain(`error[route-twice]: ${long.message} `)
    expect(text.replace(/\s+/g, ' ')).toContain(`fix: ${long.fix} `)
  })

  it('break beside short code and never within it; a word that is wider than a line stays whole', () => {
    const word = 'x'.repeat(90)
    const text = shown(
      [
        refusalAt(placeOf('x', 'x'), {
          message: word,
          fix: 'write the name of it, and then run `stack secret set NAME --stdin` once',
        }),
      ],
      'x',
    )
    expect(text).toContain(`\n  ${word}\n`)
    expect(text).toContain('fix: write the name of it, and then run `stack secret set NAME --stdin` once\n')
    const narrow = shown(
      [refusalAt(placeOf('x', 'x'), { fix: 'write the name of it, and run `stack a NAME` once' })],
      'x',
      { columns: 40 },
    )
    expect(narrow).toContain('  fix: write the name of it, and run\n       `stack a NAME` once\n')
  })

  it('wide characters count as two columns', () => {
    const text = shown([refusalAt(placeOf('x', 'x'), { message: '品番 '.repeat(20).trim() })], 'x', { columns: 40 })
    expect(text.split('\n').slice(0, 2)).toEqual([
      'error[route-twice]: 品番 品番 品番 品番',
      '  品番 品番 品番 品番 品番 品番 品番',
    ])
  })
})

describe('8.2 two places', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line${index + 1}.`).join('\n')
  const source = lines(30)
  const about = (second: Location, message = 'the first is here') =>
    refusalAt(placeOf(source, 'line10.'), { related: [{ message, place: second }] })

  it.each([
    [
      'six lines above',
      'line4.',
      '   4 | line4.\n     | ------ the first is here\n   … |\n  10 | line10.\n     | ^^^^^^^',
    ],
    ['the line above', 'line9.', '   9 | line9.\n     | ------ the first is here\n  10 | line10.\n     | ^^^^^^^'],
    [
      'six lines below',
      'line16.',
      '  10 | line10.\n     | ^^^^^^^\n   … |\n  16 | line16.\n     | ------- the first is here',
    ],
  ])('%s share a frame', (_what, text, expected) => {
    const frame = shown([about(placeOf(source, text))], source)
    expect(frame).toContain(`\n  --> src/a.ts:10:1\n${expected}\n  fix: `)
  })

  it.each([
    ['seven lines above', 'line3.'],
    ['seven lines below', 'line17.'],
  ])('%s have frames of their own, with gutters of one width', (_what, text) => {
    const place = placeOf(source, text)
    expect(shown([about(place)], source)).toContain(
      `  --> src/a.ts:10:1\n  10 | line10.\n     | ^^^^^^^\n  --> src/a.ts:${place.line}:1\n  ${String(place.line).padStart(2)} | ${text}\n     | ${'-'.repeat(text.length)} the first is here\n  fix: `,
    )
  })

  it('of two files have frames of their own, on whatever lines', () => {
    const other = { ...placeOf(source, 'line10.'), file: 'src/b.ts' }
    expect(shown([about(other)], { [file]: source, 'src/b.ts': source })).toMatch(
      /--> src\/a\.ts:10:1\n[\s\S]*--> src\/b\.ts:10:1\n/,
    )
  })

  it('lines between them are not shown: one may hold what no refusal masks', () => {
    const text = `bad\nconst key = 'whsec_SECRET'\nbad2\n`
    const related = [{ message: 'and here', place: placeOf(text, 'bad2') }]
    const frame = frameOf(text, refusalAt(placeOf(text, 'bad'), { related }))
    expect(frame).toBe('  1 | bad\n    | ^^^\n  … |\n  3 | bad2\n    | ---- and here')
  })

  it('three that are each near the next one share a frame too', () => {
    const related = ['line14.', 'line18.'].map((text) => ({ message: text, place: placeOf(source, text) }))
    const text = shown([refusalAt(placeOf(source, 'line10.'), { related })], source)
    expect(text.match(/-->/g)).toHaveLength(1)
  })

  it('of one line share it: a mark without a label stands beside the next, one with a label above it', () => {
    const line = 'f(@Body() a, @Body() b)'
    const [first, second] = [placeOf(line, '@Body()'), placeOf(line, '@Body()', 5)]
    const related = (place: Location) => [{ message: 'here', place }]
    expect(frameOf(line, refusalAt(first, { related: related(second) }))).toBe(
      `  1 | ${line}\n    |   ^^^^^^^    ------- here`,
    )
    expect(frameOf(line, refusalAt(second, { related: related(first) }))).toBe(
      `  1 | ${line}\n    |   ------- here\n    |              ^^^^^^^`,
    )
  })

  it('of one line that are too far apart for the columns are both seen', () => {
    const line = `first ${'x '.repeat(100)}second`
    const related = [{ message: 'the first is here', place: placeOf(line, 'first') }]
    const rows = frameOf(line, refusalAt(placeOf(line, 'second'), { related }), 60).split('\n')
    expect(rows[0]).toMatch(/^ {2}1 \| first x .* …$/)
    expect(rows[1]).toBe('    | ----- the first is here')
    expect(rows[2]).toMatch(/^ {2}1 \| … .* second$/)
    expect(rows[3]!.indexOf('^')).toBe(rows[2]!.indexOf('second'))
  })

  it('a label that does not fit beside its mark stands below it', () => {
    const line = `${'x'.repeat(25)} bad`
    const related = [{ message: 'this rule decides', place: placeOf(line, 'bad') }]
    expect(
      frameOf(line, refusalAt(placeOf(line, 'xxx'), { related }), 40)
        .split('\n')
        .slice(1),
    ).toEqual(['    | ^^^                       ---', '    |                  this rule decides'])
  })
})

describe('8.2 what may be a secret is masked', () => {
  const source = `@Webhook({ name: 'a', secret: 'whsec_VERYSECRET', provider: 'stripe', ${'x: 1, '.repeat(40)} })\nlast`
  const secret = refusalAt(placeOf(source, `'whsec_VERYSECRET'`), { isMasked: true })
  const others: [string, Refusal][] = [
    ['its own frame', secret],
    ['the frame of another refusal', refusalAt(placeOf(source, 'name'))],
    ['a cut line', refusalAt(placeOf(source, 'x: 1, x', 160))],
    ['a cut right of the secret', refusalAt(placeOf(source, 'provider'))],
    [
      'a related place',
      refusalAt(placeOf(source, 'last'), { related: [{ message: 'here', place: placeOf(source, 'name') }] }),
    ],
  ]

  it.each(others)('in %s, at every width', (_what, refusal) => {
    for (let columns = 40; columns < 300; columns += 7) {
      const text = shown([refusal, secret], source, { columns })
      expect([columns, /whs|SEC|VERY|RET'/.test(text)]).toEqual([columns, false])
    }
    expect(shown([refusal, secret], source)).toContain('***')
  })

  it('and is shown where no refusal says that it may be one', () => {
    expect(shown([refusalAt(placeOf(source, 'name'))], source)).toContain('whsec_VERYSECRET')
  })
})

describe('8.2 the footer', () => {
  const place = placeOf('x', 'x')
  const error = refusalAt(place)
  const warning = refusalAt(place, { slug: 'role-unknown', severity: 'warning' })
  const fixable = refusalAt(place, { edits: [{ place, text: '' }] })
  const footer = (refusals: Refusal[], options = {}) => {
    const text = render(refusals, { sourceOf: () => 'x', ...options })
    return text.slice(text.lastIndexOf('\n\n') + 2)
  }

  it.each<[string, Refusal[], string]>([
    ['one error', [error], '1 error: nothing was written\nstack explain route-twice says why'],
    ['two errors', [error, error], '2 errors: nothing was written\nstack explain route-twice says why'],
    ['one warning', [warning], '1 warning\nstack explain role-unknown says why'],
    ['two warnings', [warning, warning], '2 warnings\nstack explain role-unknown says why'],
    [
      'both, of which the errors matter',
      [warning, warning, error],
      '1 error, 2 warnings: nothing was written\nstack explain route-twice says why',
    ],
    [
      'one that can be fixed',
      [fixable, error],
      '2 errors: nothing was written\n1 can be fixed: stack build --fix · stack explain route-twice says why',
    ],
    [
      'the slug that is most frequent',
      [error, ...[1, 2].map(() => ({ ...fixable, slug: 'default-export' as const }))],
      '3 errors: nothing was written\n2 can be fixed: stack build --fix · stack explain default-export says why',
    ],
  ])('%s', (_what, refusals, expected) => {
    expect(footer(refusals)).toBe(expected)
  })

  it('says what errors mean for the command, and offers no fix where none is to be offered', () => {
    const consequence = 'nothing was built, and --fix has edited src/a.ts'
    expect(footer([fixable], { consequence, fixCommand: '' })).toBe(
      '1 error: nothing was built, and --fix has edited src/a.ts\nstack explain route-twice says why',
    )
    expect(footer([fixable], { fixCommand: 'stack build --fix --project x' })).toContain(
      '\n1 can be fixed: stack build --fix --project x\nstack explain',
    )
  })

  it('has a line for each command where both are too wide for one', () => {
    expect(footer([fixable], { stream: stream({ columns: 60 }) })).toBe(
      '1 error: nothing was written\n1 can be fixed: stack build --fix\nstack explain route-twice says why',
    )
  })

  it('there is none where nothing was refused', () => {
    expect(render([], { sourceOf: () => 'x' })).toBe('')
  })
})

describe('10.7 colour', () => {
  const source = 'first\nbad'
  const related = [{ message: 'here', place: placeOf(source, 'first') }]
  const refusals = (['error', 'warning'] as const).map((severity) =>
    refusalAt(placeOf(source, 'bad'), { severity, related }),
  )
  const escapes = (terminal: Terminal) => [...new Set(shown(refusals, source, terminal).match(/\u001b\[\d+m/g))].sort()

  it.each([
    ['no terminal', { isTTY: false }, {}],
    ['no terminal, also with FORCE_COLOR', { isTTY: false }, { FORCE_COLOR: '1' }],
    ['a terminal with NO_COLOR', { isTTY: true }, { NO_COLOR: '1' }],
    ['a terminal with NO_COLOR, also with FORCE_COLOR', { isTTY: true }, { NO_COLOR: '1', FORCE_COLOR: '1' }],
  ])('%s: no escape byte', (_what, terminal, variables) => {
    withVariables(variables, () => expect(shown(refusals, source, terminal)).not.toContain('\u001b'))
  })

  it('a terminal gets red, magenta, bold and dim: no colour that vanishes on a light or a dark background', () => {
    withVariables({}, () => {
      expect(escapes({ isTTY: true })).toEqual(['1', '22', '2', '31', '35', '39'].map((code) => `\u001b[${code}m`))
    })
  })

  it('an empty NO_COLOR is none', () => {
    withVariables({ NO_COLOR: '' }, () => expect(escapes({ isTTY: true })).not.toEqual([]))
  })

  it('says with colour what it says without', () => {
    withVariables({}, () => {
      const coloured = shown(refusals, source, { isTTY: true, columns: 50 })
      expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(shown(refusals, source, { columns: 50 }))
    })
  })

  function withVariables(variables: Record<string, string>, run: () => void): void {
    for (const name of ['NO_COLOR', 'FORCE_COLOR']) vi.stubEnv(name, variables[name])
    try {
      run()
    } finally {
      vi.unstubAllEnvs()
    }
  }
})
