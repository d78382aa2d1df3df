/** The scheme that signs the URL and the sorted fields of a form. */
import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sortedForm } from '../../../runtime/webhooks/form.ts'
import { urlsOf } from '../../../runtime/webhooks/urls.ts'
import { presets } from '../../../src/wire/webhook-schemes.ts'
import { bytes, claimed, holds, reasonOf } from '../../support/claims.ts'
import { countReads } from '../../support/counted-reads.ts'

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

  const formsOf = (length: number) => {
    const fields = Math.floor(length / 11)
    return {
      'one name in every field': 'a=&'.repeat(length / 3),
      'another name in every field': Array.from(
        { length: fields },
        (_, index) => `name${(index * 7919) % fields}=`,
      ).join('&'),
      'values that differ at their end': Array.from(
        { length: length / 1000 },
        (_, index) => `${'x'.repeat(995)}=${index}`,
      ).join('&'),
    }
  }

  it.each(Object.entries(formsOf(1_000_000)))('a form of a megabyte is signed whole: %s', async (_what, form) => {
    const pairs = new Set([...new URLSearchParams(form)].map(([name, value]) => `${name}\0${value}`))
    const plain = [...pairs].sort().join('').replaceAll('\0', '')
    expect(Buffer.from(sortedForm(bytes(form))).toString()).toBe(plain)
    const headers = { 'x-twilio-signature': createHmac('sha1', '12345').update(`${url}${plain}`).digest('base64') }
    expect(await holds(presets.twilio.proof, '12345', headers, bytes(form), [url])).toBe(true)
  })

  it.each(Object.entries(formsOf(100_000)))('a form costs no more than one sort of its bytes: %s', (_what, form) => {
    // A merge sort reads at most two bytes for each byte that it moves, in each of its rounds. The rest reads each byte a few times.
    const most = Math.ceil(2 * Math.log2(form.length) + 10) * form.length
    expect(countReads(most, () => sortedForm(bytes(form)))).toBeGreaterThan(form.length)
  })

  it('work that compares all fields with each other costs more', () => {
    const quadratic = () => {
      const array = bytes('a=&'.repeat(1_000))
      for (let one = 0; one < array.length; one++) for (let other = 0; other < one; other++) array[one] === array[other]
    }
    expect(() => countReads(40 * 3_000, quadratic)).toThrow('reads more than 120000 bytes')
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
