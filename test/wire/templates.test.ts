/** What a template may hold, and where a fault of it stands. */
import { describe, expect, it } from 'vitest'
import { checkTemplate, readTemplate, type TemplateParts } from '../../src/wire/templates.ts'
import { titled } from '../support/titles.ts'

const variables = [
  { name: 'code', required: true },
  { name: 'link', required: false },
]
const mail = (parts: Partial<TemplateParts>): TemplateParts => ({
  channel: 'email',
  subject: 'Hello',
  body: '<p>{{code}}</p>',
  body_text: null,
  ...parts,
})
const faults = (parts: Partial<TemplateParts>) => checkTemplate(mail(parts), variables)
const body = (html: string) => faults({ body: `{{code}}${html}` })

describe('a template', () => {
  it.each(
    titled([
      ['<p>{{code}} {{ link }} {{site_name}}</p>'],
      ['{{code}}<a href="{{link}}">x</a>'],
      ['{{code}}<a href="https://example.com/?q={{link}}">x</a>'],
      ['{{code}}<a href="{{site_url}}/orders">x</a><img src="cid:logo" alt="{{site_name}}">'],
      ['{{code}}<a href="mailto:{{support_email}}">x</a><a href=\'#top\'>y</a>'],
      ['{{code}}<style>@media (max-width: 1px) { p { margin: 0 }}</style><p style="color: red">x</p>'],
      ['{{code}}<!--[if mso]><table><tr><td><![endif]--> a < b and 1 <2 &amp; c<br/>'],
      ['<table><tr><td>{{code}}</td></tr></table>\n<hr><p>{ {code} } }}</p>'],
    ]),
  )('takes %s', (_title, html) => {
    expect(faults({ body: html })).toEqual([])
  })

  it.each(
    titled([
      ['{{cod}}', 'unknown variable "cod": did you mean "code"?'],
      ['{{total}}', 'unknown variable "total": the variables are code, link, site_name'],
      ['{{#if code}}', '"{{" begins no variable here'],
      ['{{{code}}}', '"{{" begins no variable here'],
      ['{{code', '"{{" begins no variable here'],
      ['{{Code}}', '"{{" begins no variable here'],
      ['{{code.length}}', '"{{" begins no variable here'],
      ['<script>alert(1)</script>', '<script> is refused'],
      ['<SCRIPT SRC=//x>', '<script> is refused'],
      ['<svg onload=alert(1)>', '<svg> is refused'],
      ['<iframe src="https://x">', '<iframe> is refused'],
      ['<form action="https://x">', '<form> is refused'],
      ['<meta http-equiv="refresh">', '<meta> is refused: the frame'],
      ['<base href="https://x">', '<base> is refused: the frame'],
      ['<p onclick="x()">', 'the attribute "onclick" is refused: it runs script'],
      ['<img src="https://x/y.png"ONERROR=x()>', 'the attribute "onerror" is refused'],
      ['<a/href="javascript:alert(1)">', '"href" must begin with https:'],
      ['<a href=" java&#115;cript:alert(1)">', '"href" must begin with https:'],
      ['<a href="java\tscript:alert(1)">', '"href" must begin with https:'],
      ['<a href="data:text/html,x">', '"href" must begin with https:'],
      ['<a href="/relative">', '"href" must begin with https:'],
      ['<a href="x{{link}}">', '"href" must begin with https:'],
      ['<img srcset="https://x 2x">', 'the attribute "srcset" is refused'],
      ['<a href={{link}}>', 'the value of "href" must be in quotes'],
      ['<p {{link}}>', 'a variable in a tag must stand in the value of an attribute'],
      ['<p {{link}}="x">', 'a variable in a tag must stand in the value of an attribute'],
      ['<p title=x{{link}}>', 'the value of "title" must be in quotes'],
      ['<p style="width: {{link}}">', 'a variable in a style is refused'],
      ['<style>p { width: {{link}} }</style>', 'a variable in a style is refused'],
      ['<!-- {{link}} -->', 'a variable in a comment is refused'],
      ['<! {{link}}>', 'a variable in a comment is refused'],
      ['</{{link}}>', 'a variable in a comment is refused'],
      ['<{{link}}>', 'a variable must not stand behind "<"'],
      ['<p', 'the tag <p> has no end'],
      ['<p title="x>', 'the tag <p> has no end'],
      ['<!-- x', 'this comment has no end'],
      ['<style>p {}', 'this style has no end'],
      ['<style>', 'this style has no end'],
      ['\u0000', 'control characters are refused'],
      ['\ud800', 'half of a surrogate pair'],
    ]),
  )('refuses %s', (_title, html, reason) => {
    const [fault] = body(html)
    expect(fault?.reason).toContain(reason)
    expect(fault?.field).toBe('body')
  })

  it('names line and column, in the order of the parts', () => {
    expect(faults({ subject: 'a {{x}}', body: 'a\r\n{{code}}\n  <b {{y}}>', body_text: '{{code}} {{' })).toMatchObject([
      { field: 'subject', line: 1, column: 3, reason: expect.stringContaining('"x"') },
      { field: 'body', line: 3, column: 6, reason: expect.stringContaining('"y"') },
      { field: 'body', line: 3, column: 6, reason: expect.stringContaining('in a tag') },
      { field: 'body_text', line: 1, column: 10, reason: expect.stringContaining('begins no variable') },
    ])
  })

  it('shows a required variable in the body, and in its text', () => {
    expect(faults({ body: '<p>x</p>' })).toEqual([
      { field: 'body', line: 1, column: 9, reason: 'the required variable {{code}} is missing' },
    ])
    expect(faults({ body_text: 'x' })).toMatchObject([{ field: 'body_text' }])
    expect(faults({ subject: '{{code}}', body: '<p title="{{code}}">' })).toEqual([])
  })

  it.each(
    titled([
      ['', 'a mail needs a subject'],
      ['a\r\nBcc: x@example.com', 'one line'],
      ['a\u2028b', 'one line'],
      ['a\u0000', 'one line'],
      ['x'.repeat(201), '200 characters'],
    ]),
  )('refuses the subject %j', (_title, subject, reason) => {
    expect(faults({ subject })[0]).toMatchObject({ field: 'subject', reason: expect.stringContaining(reason) })
  })

  it('has 64 KiB a part, counted in UTF-8', () => {
    const of = (length: number, character: string) => `{{code}}${character.repeat(length)}`
    expect(faults({ body: of(65_528, 'x') })).toEqual([])
    for (const text of [of(65_529, 'x'), of(21_843, '€')])
      expect(faults({ body: text })[0]?.reason).toContain('65536 bytes')
    expect(faults({ body: of(21_842, '€') })).toEqual([])
    expect(faults({ body_text: of(65_529, 'x') })[0]?.field).toBe('body_text')
  })

  it('shows 100 variables a part', () => {
    expect(faults({ body: '{{code}}'.repeat(100) })).toEqual([])
    expect(faults({ body: '{{code}}'.repeat(101) })[0]).toMatchObject({ column: 801 })
  })

  it('of a text message has a body alone, of 1,600 characters', () => {
    const sms = (parts: Partial<TemplateParts>) =>
      checkTemplate({ channel: 'sms', subject: null, body: '{{code}} <b>', body_text: null, ...parts }, variables)
    expect(sms({})).toEqual([])
    expect(sms({ subject: 'x' })[0]?.field).toBe('subject')
    expect(sms({ body_text: '{{code}}' })[0]?.field).toBe('body_text')
    expect(sms({ body: `{{code}}${'x'.repeat(1_592)}` })).toEqual([])
    expect(sms({ body: `{{code}}${'x'.repeat(1_593)}` })[0]?.reason).toContain('1600 characters')
  })

  it.each([
    '<'.repeat(65_000),
    '<!--'.repeat(16_000),
    '<a href="">'.repeat(5_900),
    '<a ='.repeat(16_000),
    '&'.repeat(65_000),
  ])('of hostile text is checked in the time of its length (%#)', (text) => {
    expect(body(text).length).toBeLessThanOrEqual(20)
  })
})

describe('a declared template', () => {
  const valid = { channel: 'email', subject: 'S {{order}}', body: '{{order}}', variables: [{ name: 'order' }] }
  const path = (change: object, key = 'receipt') => {
    try {
      readTemplate({ ...valid, ...change }, key)
      return undefined
    } catch (error) {
      return (error as { path: unknown[] }).path
    }
  }

  it('has the name of its file as its key, and defaults', () => {
    expect(readTemplate(valid, 'receipt')).toEqual({
      ...valid,
      key: 'receipt',
      body_text: null,
      variables: [{ name: 'order', required: false, example: 'order' }],
    })
    expect(readTemplate({ ...valid, key: 'other' }, 'Not-a-key').key).toBe('other')
  })

  const cases: [object, (string | number)[]][] = [
    [{ key: 'Receipt' }, ['key']],
    [{ key: 'reset_password' }, ['key']],
    [{ channel: 'fax' }, ['channel']],
    [{ subject: undefined }, ['subject']],
    [{ subject: 7 }, ['subject']],
    [{ body: null }, ['body']],
    [{ body: '{{ordr}}' }, ['body']],
    [{ boddy: 'x' }, ['boddy']],
    [{ channel: 'sms' }, ['subject']],
    [{ variables: {} }, ['variables']],
    [{ variables: [{ name: 'order' }, { name: 'order' }] }, ['variables', 1, 'name']],
    [{ variables: [{ name: 'email' }] }, ['variables', 0, 'name']],
    [{ variables: [{ name: 'order', required: 'yes' }] }, ['variables', 0, 'required']],
    [{ variables: [{ name: 'order', example: 'x'.repeat(201) }] }, ['variables', 0, 'example']],
    [{ variables: [{ name: 'order', exampel: 'x' }] }, ['variables', 0, 'exampel']],
    [{ variables: Array.from({ length: 51 }, (_, index) => ({ name: `v${index}` })) }, ['variables']],
    [{ variables: [{ name: 'order' }, { name: 'total', required: true }] }, ['body']],
  ]
  it.each(titled(cases))('refuses %s', (_title, change, expected) => {
    expect(path(change)).toEqual(expected)
  })
})
