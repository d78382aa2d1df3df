/** The scheme that signs the URL and the sorted fields of a form. */
import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sortedForm } from '../../../runtime/webhooks/form.ts'
import { urlsOf } from '../../../runtime/webhooks/urls.ts'
import { presets } from '../../../src/wire/webhook-schemes.ts'
import { bytes, claimed, holds, reasonOf } from '../../support/claims.ts'

describe('the URL scheme', () => {
  const url = 'https://mycompany.com/myapp.php?foo=1&bar=2'
  const form = 'CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212'
  const published = { 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' }

  it('the published known answer, whatever the order of the form', async () => {
    expect(await holds(presets.twilio.proof, '12345', published, bytes(form), [url])).toBe(true)
    const reordered = form.split('&').reverse().join('&')
    expect(await holds(presets.twilio.proof, '12345', published, bytes(reordered), [url])).toBe(true)
    expect(await holds(presets.twilio.proof, '12345', published, bytes(`${form}&x=1`), [url])).toBe(false)
    expect(await holds(presets.twilio.proof, '12345', published, bytes(form), [`${url}&x=1`])).toBe(false)
  })

  it('a signature over any spelling of the address counts, and over no other address', async () => {
    const spellings = ['https://proxy.example/a', `${url}#`, url]
    expect(await holds(presets.twilio.proof, '12345', published, bytes(form), spellings)).toBe(true)
    expect(await holds(presets.twilio.proof, '12345', published, bytes(form), spellings.slice(0, 2))).toBe(false)
  })

  it('a signature has 20 bytes', () => {
    const read = (length: number) =>
      reasonOf(presets.twilio.proof, { 'x-twilio-signature': Buffer.alloc(length, 7).toString('base64') }, [url])
    expect([read(19), read(20), read(21), read(32)]).toEqual([
      'bad_encoding',
      'claimed',
      'bad_encoding',
      'bad_encoding',
    ])
  })

  it('equal values of a name count once, and a name’s values are sorted', () => {
    expect(Buffer.from(sortedForm(bytes('b=2&a=z&b=1&b=2&__proto__=x'))).toString()).toBe('__proto__xazb1b2')
  })

  it('bytes that are no text are signed as they are', () => {
    expect([...sortedForm(bytes('a=%FF&a=%FE'))]).toEqual([0x61, 0xfe, 0x61, 0xff])
    // Two values that are no text must not count as the same value.
    expect(sortedForm(bytes('a=%FF&a=%F4%8F%BF%BF%C3%BF&a=%ED%A0%80%FF')).length).toBe(3 + 1 + 6 + 4)
    expect([...sortedForm(bytes('a=%zz+%4'))]).toEqual([...Buffer.from('a%zz %4')])
  })

  const megabyte = 1_000_000
  const distinct = Array.from({ length: 90_000 }, (_, index) => `name${(index * 7919) % 90_000}=`).join('&')

  it.each([
    ['one name in every field', 'a=&'.repeat(megabyte / 3)],
    ['another name in every field', distinct],
    ['values that differ at their end', `${'x'.repeat(1000)}=1&`.repeat(1000)],
  ])('a form of a megabyte, however many fields it has, costs no more than a few sorts: %s', async (_what, form) => {
    const body = bytes(form)
    const plain = () => {
      const pairs = new Set([...new URLSearchParams(form)].map(([name, value]) => `${name}\0${value}`))
      return [...pairs].sort().join('').replaceAll('\0', '')
    }
    const fastest = (work: () => unknown) =>
      Math.min(
        ...Array.from({ length: 3 }, () => {
          const began = performance.now()
          work()
          return performance.now() - began
        }),
      )
    expect(Buffer.from(sortedForm(body)).toString()).toBe(plain())
    expect(fastest(() => sortedForm(body))).toBeLessThan(30 * fastest(plain))
    const signature = createHmac('sha1', '12345')
      .update(url + plain())
      .digest('base64')
    expect(await holds(presets.twilio.proof, '12345', { 'x-twilio-signature': signature }, body, [url])).toBe(true)
  })

  it('fields are sorted as JavaScript sorts their texts, by UTF-16 units', () => {
    const texts = ['é', 'z', '\uffff', '\ue000', '\ud7ff', '🚀', '\u{10ffff}', 'a', 'ab', '', '\0']
    const form = new URLSearchParams(texts.flatMap((name) => texts.map((value) => [name, value]))).toString()
    const pairs = texts.toSorted().flatMap((name) => texts.toSorted().map((value) => name + value))
    expect(Buffer.from(sortedForm(bytes(form))).toString()).toBe(pairs.join(''))
  })

  it('an escape never reaches into the next field', () => {
    expect(Buffer.from(sortedForm(bytes('b=%4&a=%&c%=1&&=d&e'))).toString()).toBe('da%b%4c%1e')
  })

  it('the spellings that are tried: with and without the port, apostrophes as typed', () => {
    expect(urlsOf(undefined, "https://x.example/a%27b?c='", '?c=')).toEqual([
      "https://x.example/a%27b?c='",
      "https://x.example/a'b?c='",
      "https://x.example:443/a%27b?c='",
      "https://x.example:443/a'b?c='",
    ])
    expect(urlsOf('http://x.example:8080/hook', 'http://localhost/webhooks/sms?q=1', '?q=1')).toEqual([
      'http://x.example:8080/hook?q=1',
      'http://x.example/hook?q=1',
    ])
  })

  it('with bodySHA256 the URL is signed, and the body is JSON of that hash', async () => {
    const body = bytes('{"EventType":"onMessageAdded"}')
    const hashed = `https://x.example/h?bodySHA256=${createHash('sha256').update(body).digest('hex')}`
    const headers = { 'x-twilio-signature': createHmac('sha1', '12345').update(hashed).digest('base64') }
    expect(await holds(presets.twilio.proof, '12345', headers, body, [hashed])).toBe(true)
    expect(await holds(presets.twilio.proof, '12345', headers, bytes('{}'), [hashed])).toBe(false)
    expect(claimed(presets.twilio.proof, headers, [hashed])).toMatchObject({ isJson: true })
  })
})
