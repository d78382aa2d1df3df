/** Variants for Twilio: the signature covers the URL and the sorted fields of the form. */
import { createHash } from 'node:crypto'
import { forge } from '../schemes.ts'
import {
  type Base,
  bytesOf,
  type Delivery,
  lines,
  type SchemeVariants,
  sentAs,
  signatureOf,
  type Variant,
  withClaim,
  withSignature,
} from './base.ts'

const asJson = (headers: Delivery['headers']): Delivery['headers'] =>
  headers.map(([name, value]) => [name, name === 'content-type' ? 'application/json' : value])

function hostile(base: Base): Variant[] {
  const { claim, scheme } = base
  const { body, url } = claim
  const fields = [...new URLSearchParams(Buffer.from(body).toString())] as [string, string][]
  const sent = (...entries: [string, string][]) => sentAs(base, bytesOf(new URLSearchParams(entries).toString()))
  const [first, second, ...others] = fields as [[string, string], [string, string], ...[string, string][]]
  const json = bytesOf(JSON.stringify({ [first[0]]: first[1] }))
  const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
  const signedFor = (other: string, change: Partial<Delivery> = {}): Delivery => ({
    ...withClaim(base, { url: other }),
    ...change,
  })
  const hashed = `${url}?bodySHA256=${hash(json)}`
  const { origin } = new URL(url)
  return [
    ['a parameter changed', sent([first[0], `${first[1]}x`], second, ...others)],
    ['a parameter renamed', sent([`${first[0]}x`, first[1]], second, ...others)],
    ['a name in lower case', sent([first[0].toLowerCase(), first[1]], second, ...others)],
    ['two values swapped', sent([first[0], second[1]], [second[0], first[1]], ...others)],
    ['a parameter added', sent(...fields, ['ZZ', '1'])],
    ['an empty parameter added', sent(...fields, ['ZZ', ''])],
    ['a parameter removed', sent(second, ...others)],
    ['an empty parameter removed', sent(...fields.filter(([, value]) => value !== ''))],
    ['a second value of a parameter', sent(...fields, [first[0], 'other'])],
    ['a second value before it', sent([first[0], 'other'], ...fields)],
    ['%FF where U+FFFD was signed', sentAs(base, bytesOf(body, '&Raw=%FF'), bytesOf(body, '&Raw=%EF%BF%BD'))],
    ['%FE changed to %FF', sentAs(base, bytesOf(body, '&Raw=%FF'), bytesOf(body, '&Raw=%FE'))],
    [
      // A reader that decodes invalid bytes to U+FFFD would take both for the same value.
      'a second value that is no text',
      sentAs(base, bytesOf(body, '&Raw=%FF&Raw=%F4%8F%BF%BF%C3%BF'), bytesOf(body, '&Raw=%F4%8F%BF%BF%C3%BF')),
    ],
    ['another host', signedFor(url.replace(origin, 'http://other.example'))],
    [
      'another host, that a header forwards',
      {
        headers: [
          ...signedFor(url.replace(origin, 'http://other.example')).headers,
          ['x-forwarded-host', 'other.example'],
        ],
        body,
      },
    ],
    ['another port', signedFor(url.replace(origin, `http://${new URL(url).hostname}:1`))],
    ['another path', signedFor(`${url}x`)],
    ['a slash after the path', signedFor(`${url}/`)],
    ['a query that did not come', signedFor(`${url}?a=1`)],
    ['a query that was not signed', signedFor(url, { query: '?a=1' })],
    ['another query', signedFor(`${url}?a=1`, { query: '?a=2' })],
    ['another order of the query', signedFor(`${url}?a=1&b=2`, { query: '?b=2&a=1' })],
    ['the URL alone', withSignature(base, signatureOf(scheme, claim, Buffer.from(url)))],
    ['the form alone', withSignature(base, signatureOf(scheme, { ...claim, url: '' }))],
    ['the body as it was sent', withSignature(base, signatureOf(scheme, claim, Buffer.from(bytesOf(url, body))))],
    [
      'the form in the order it was sent',
      withSignature(base, signatureOf(scheme, claim, Buffer.from(url + fields.reverse().flat().join('')))),
    ],
    [
      'JSON under a signature of the URL alone',
      { headers: asJson(withClaim(base, { body: bytesOf('') }).headers), body: json },
    ],
    ['bodySHA256 of another body', signedFor(hashed, { query: hashed.slice(url.length), body: bytesOf(json, ' ') })],
    [
      'bodySHA256 of another body, as JSON',
      {
        headers: asJson(signedFor(hashed).headers),
        query: hashed.slice(url.length),
        body: bytesOf('{"EventType":"other"}'),
      },
    ],
    [
      'bodySHA256 that was not signed',
      {
        headers: asJson(withSignature(base, base.signature).headers),
        query: hashed.slice(url.length),
        body: json,
      },
    ],
    ['bodySHA256 of nothing', signedFor(`${url}?bodySHA256=`, { query: '?bodySHA256=', body })],
  ]
}

function legitimate(base: Base): Variant[] {
  const { claim, scheme, extra } = base
  const { body, url } = claim
  const text = Buffer.from(body).toString()
  const pairs = text.split('&')
  const at = (query: string): Delivery => ({ ...withClaim(base, { url: url + query }), query })
  const of = (form: string) => withClaim(base, { body: bytesOf(form) })
  const { protocol, hostname, pathname } = new URL(url)
  const variants: Variant[] = [
    ['another order of the parameters', sentAs(base, bytesOf([...pairs].reverse().join('&')))],
    ['%20 for blanks', sentAs(base, bytesOf(text.replaceAll('+', '%20')))],
    [
      'escapes in lower case',
      sentAs(base, bytesOf(text.replaceAll(/%[0-9A-F]{2}/g, (byte: string) => byte.toLowerCase()))),
    ],
    ['bytes for escapes', sentAs(base, bytesOf(text.replaceAll('%C5%BC', 'ż').replaceAll('%F0%9F%9A%80', '🚀')))],
    ['repeated parameters', of(`${text}&MediaUrl=b&MediaUrl=a&MediaUrl=b`)],
    ['names that differ in case', of(`${text}&a=1&B=2&b=3&A=4`)],
    ['names of an object', of(`${text}&__proto__=1&constructor=2`)],
    ['a query', at('?foo=1&bar=2')],
    ['an apostrophe in the query', at("?who=O'Brien")],
    ['an apostrophe and its escape', at("?who=O'Brien&else=O%27Brien")],
    ['escapes in the query', at('?x=%C5%BC%20+%2f')],
    ['an empty query', at('?')],
    ['signed without the port', withClaim(base, { url: `${protocol}//${hostname}${pathname}` })],
  ]
  if (scheme.header !== 'x-twilio-signature') return variants
  // Only the provider's own preset accepts callbacks in JSON.
  const json = bytesOf(JSON.stringify({ MessageStatus: 'delivered', text: 'ż' }))
  const query = `?a=1&bodySHA256=${createHash('sha256').update(json).digest('hex')}`
  const headers = lines({
    ...extra,
    'content-type': 'application/json',
    ...forge(scheme, { ...claim, url: url + query }),
  })
  return [...variants, ['JSON, whose hash is in the URL', { headers, body: json, query }]]
}

export const formVariants: SchemeVariants = { hostile, legitimate }
