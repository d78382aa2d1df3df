/** Hostile variants of the headers that carry the signature and the time. */
import { type Base, signatureOf, type Variant, withClaim, withHeader, withHeaders, withoutHeader } from './base.ts'

export function hostileHeaders(base: Base): Variant[] {
  const { scheme, claim, signature, sender } = base
  const { header, timestampHeader } = scheme
  const value = scheme.headers(signature, claim)[header]!
  const other = signatureOf(scheme, { ...claim, secret: sender.otherSecret })
  const wrong = scheme.headers(other, claim)[header]!
  const rename = (from: string, to: string) => withHeaders(base, (name, text) => [[name === from ? to : name, text]])
  const variants: Variant[] = [
    ['no signature header', withHeader(base, header)],
    ['an empty signature header', withHeader(base, header, '')],
    ['a signature header of blanks', withHeader(base, header, '  ')],
    ['the signature in another header', rename(header, 'signature')],
    ['the signature in a header of a similar name', rename(header, `x-${header}`)],
    ['no header at all', { headers: [], body: claim.body }],
  ]
  // In a list separated by blanks, two headers look the same as one.
  if (!scheme.idHeader) {
    variants.push(
      ['the signature header twice', withHeader(base, header, value, value)],
      ['the signature header twice, the first one wrong', withHeader(base, header, wrong, value)],
      ['the signature header twice, the second one wrong', withHeader(base, header, value, wrong)],
    )
  }
  if (!timestampHeader) return variants
  const now = claim.timestamp
  return [
    ...variants,
    ['no time header', withHeader(base, timestampHeader)],
    ['no time header, and signed so', withoutHeader(withClaim(base, { timestamp: '' }), timestampHeader)],
    ['an empty time header', withHeader(base, timestampHeader, '')],
    ['the time header twice', withHeader(base, timestampHeader, now, now)],
    ['two times', withHeader(base, timestampHeader, now, String(Number(now) - 1))],
    ['the time in another header', rename(timestampHeader, 'date')],
  ]
}
