/** Templates that are filled in: every value stays text. */
import { describe, expect, it } from 'vitest'
import { fill } from '../../src/auth/mail/render.ts'
import { templates, variablesOf } from '../../src/auth/mail/templates.ts'
import { tokensOf } from '../../src/wire/mail-html.ts'
import { checkTemplate, type TemplateParts } from '../../src/wire/templates.ts'
import { titled } from '../support/titles.ts'

const mail = (parts: Partial<TemplateParts>): TemplateParts => ({
  channel: 'email',
  subject: '',
  body: '',
  body_text: null,
  ...parts,
})

/** Values that have broken out of text or attributes somewhere. */
const hostile = [
  '<script>alert(1)</script>',
  '"><script>alert(1)</script>',
  "' onmouseover='alert(1)",
  '" onmouseover="alert(1)" x="',
  'x onerror=alert(1)',
  '--><script>alert(1)</script><!--',
  '</p></main></body></html><script>x</script>',
  '</title><script>x</script>',
  '{{code}}',
  '{{{{code}}}}',
  '&#60;script&#62;',
  '&lt;script&gt;',
  '`alert(1)`',
  'javascript:alert(1)',
  ' JaVaScRiPt:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,<script>x</script>',
  'vbscript:x',
  '//evil.example',
  'https://example.com/"><script>x</script>',
  "https://example.com/'><img src=x onerror=y>",
  '$& $1 $`',
  'a\r\nBcc: evil@example.org',
  'a\u2028b\u0000c\u007fd',
]

/** Every place of a variable that a template may have. */
const places = [
  '<p>{{v}}</p>',
  '<p>a{{v}}{{v}}b</p>',
  '<p title="{{v}}">x</p>',
  "<p title='{{v}}'>x</p>",
  '<a href="{{v}}">x</a>',
  "<a href=' {{v}}'>x</a>",
  '<a href="https://example.com/?q={{v}}">x</a>',
  '<img alt="{{v}}" src="{{v}}">',
  '<a href="mailto:{{v}}">{{v}}</a>',
  '<b>&{{v}};</b>',
]

/** The structure of HTML: names of tags and attributes, in their order. */
const structure = (html: string) =>
  tokensOf(html)
    .filter(({ kind }) => kind !== 'text')
    .map(({ kind, name, attributes }) => [kind, name, attributes.map((attribute) => attribute.name)])

describe('a value', () => {
  it.each(titled(places.map((place) => [place] as const)))('stays what it is in %s', (_title, place) => {
    expect(checkTemplate(mail({ subject: 'x', body: place }), [{ name: 'v', required: true }])).toEqual([])
    const expected = structure(fill(mail({ body: place }), { v: 'https://example.com' }).html)
    for (const v of [...hostile, ...hostile.map((one) => `https:${one}`), ...random(300)]) {
      const { html } = fill(mail({ body: place }), { v, site_name: v, support_email: '' })
      expect([v, structure(html)]).toEqual([v, expected])
      const addresses = tokensOf(html).flatMap(({ attributes }) =>
        attributes.filter(({ name }) => name === 'href' || name === 'src').map(({ value }) => value.trim()),
      )
      expect(addresses.filter((address) => !/^(?:https?:|mailto:|tel:|#$)/i.test(address))).toEqual([])
    }
  })

  it('adds no line to a subject', () => {
    for (const v of [...hostile, ...random(300)]) {
      const { subject } = fill(mail({ subject: 'a {{v}} b' }), { v })
      expect(subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    }
    expect(fill(mail({ subject: '{{v}}' }), { v: 'a\r\nBcc: x' }).subject).toBe('a Bcc: x')
  })

  it('is itself in plain text, and empty where it is missing', () => {
    const text = fill(mail({ body_text: '{{v}} {{w}}.' }), { v: '<b> & "{{w}}"' }).text
    expect(text).toBe('<b> & "{{w}}" .')
    expect(fill({ channel: 'sms', subject: null, body: '{{v}}', body_text: null }, { v: '<b>' })).toEqual({
      subject: '',
      html: '',
      text: '<b>',
    })
    expect(fill(mail({ body_text: '{{constructor}}{{__proto__}}' }), {}).text).toBe('{{__proto__}}')
  })

  it('without a scheme that a mail may have is no link', () => {
    const href = (v: string) =>
      /<a href="([^"]*)"/.exec(fill(mail({ body: '<a href="{{v}}/x">y</a>' }), { v }).html)![1]
    expect(['https://a', 'HTTP://a', 'javascript:x', '', '/a'].map(href)).toEqual([
      'https://a/x',
      'HTTP://a/x',
      '#/x',
      '#/x',
      '#/x',
    ])
  })
})

it('the frame of a mail shows the name of the site and its support as text', () => {
  const frame = (site_name: string, support_email: string) =>
    structure(fill(mail({ body: '<p>x</p>' }), { site_name, support_email }).html)
  for (const value of hostile) expect([value, frame(value, value)]).toEqual([value, frame('Shop', 'help@example.com')])
})

describe('the text of a mail', () => {
  it.each([
    ['<p>a\n b</p><p>c<br>d</p>', 'a b\n\nc\nd'],
    ['<p><a href="https://x.example/?a=1&amp;b={{v}}">Open</a></p>', 'Open: https://x.example/?a=1&b=<1>'],
    ['<a href="{{u}}">{{u}}</a>', 'https://y.example'],
    ['<a href="{{u}}"><img src="cid:x"></a>', 'https://y.example'],
    ['<style>p {}</style><!-- x --><b>{{v}}</b> &lt;&amp;&#8364;&#x20ac;&nbsp;&unknown;', '<1> <&€€ &unknown;'],
  ])('of %j', (body, text) => {
    expect(fill(mail({ body }), { v: '<1>', u: 'https://y.example' }).text).toBe(text)
  })

  it.each([
    '<a href="">'.repeat(5_900),
    '<'.repeat(65_000),
    '<!--'.repeat(16_000),
    '\n'.repeat(65_000),
    ' '.repeat(65_000),
  ])('is made in the time of its length (%#)', (body) => {
    expect(fill(mail({ body }), {}).text.length).toBeLessThan(100_000)
  })
})

it('every built-in template passes the check of a changed one', () => {
  for (const [key, { channel, subject, body, body_text, ...names }] of Object.entries(templates)) {
    const texts = channel === 'sms' ? { subject: null, body_text: null } : { subject, body_text }
    expect([key, checkTemplate({ channel, body, ...texts }, variablesOf(names))]).toEqual([key, []])
  }
})

/** Texts of characters that mean something in HTML, URLs, headers and templates. */
function random(count: number): string[] {
  const characters = '<>"\'=&;:/{}!-# \t\r\njavscriptond0\u2028\u00a0'
  let seed = 7
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648)
  return Array.from({ length: count }, () =>
    Array.from({ length: next() % 24 }, () => characters[(next() >> 8) % characters.length]).join(''),
  )
}
