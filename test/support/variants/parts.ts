/** Variants for Stripe and Paddle: the time and the signature are parts of one header. */
import { type Base, type Delivery, type SchemeVariants, signatureOf, type Variant, withHeader } from './base.ts'

function hostile(base: Base): Variant[] {
  const { scheme, claim, signature } = base
  const { header } = scheme
  const [t, v1, mark, otherMark] = scheme.prefix === 'h1=' ? ['ts', 'h1', ';', ','] : ['t', 'v1', ',', ';']
  const now = claim.timestamp
  const put = (value: string): Delivery => withHeader(base, header, value)
  const old = String(Number(now) - 1)
  return [
    ['no time', put(`${v1}=${signature}`)],
    ['an empty time', put(`${t}=${mark}${v1}=${signature}`)],
    ['no signature', put(`${t}=${now}`)],
    ['two times, the right one last', put(`${t}=${old}${mark}${t}=${now}${mark}${v1}=${signature}`)],
    ['two times, the right one first', put(`${t}=${now}${mark}${v1}=${signature}${mark}${t}=${old}`)],
    ['the time twice', put(`${t}=${now}${mark}${t}=${now}${mark}${v1}=${signature}`)],
    ['the time in upper case', put(`${t!.toUpperCase()}=${now}${mark}${v1}=${signature}`)],
    ['the other separator', put(`${t}=${now}${otherMark}${v1}=${signature}`)],
    ['blanks', put(`${t}=${now} ${v1}=${signature}`)],
    ['a blank in the time', put(`${t}= ${now}${mark}${v1}=${signature}`)],
    ['a blank before the equals sign', put(`${t}=${now}${mark}${v1} =${signature}`)],
    ['two equals signs', put(`${t}=${now}${mark}${v1}==${signature}`)],
    ['a colon', put(`${t}:${now}${mark}${v1}:${signature}`)],
    ['names of an object', put(`__proto__=1${mark}constructor=${signature}${mark}${t}=${now}`)],
  ]
}

function legitimate(base: Base): Variant[] {
  const { scheme, claim, signature, sender } = base
  const { header } = scheme
  const { timestamp } = claim
  const wrong = signatureOf(scheme, { ...claim, secret: sender.otherSecret })
  const put = (value: string) => withHeader(base, header, value)
  if (scheme.prefix === 'h1=') {
    return [
      ['several h1, the right one last', put(`ts=${timestamp};h1=${wrong};h1=${signature}`)],
      ['several h1, the right one first', put(`ts=${timestamp};h1=${signature};h1=${wrong}`)],
      ['another scheme beside it', put(`ts=${timestamp};h0=zzz;h1=${signature};h2=x`)],
      ['the time last', put(`h1=${signature};ts=${timestamp}`)],
    ]
  }
  return [
    ['several v1, the right one last', put(`t=${timestamp},v1=${wrong},v1=${signature}`)],
    ['several v1, the right one first', put(`t=${timestamp},v1=${signature},v1=${wrong}`)],
    ['another scheme beside it', put(`t=${timestamp},v0=zzz,v1=${signature},v2=x`)],
    ['the time last', put(`v1=${signature},t=${timestamp}`)],
  ]
}

export const partsVariants: SchemeVariants = { hostile, legitimate }
