/** Hostile variants of a signed time, and of the boundary between the time and the body. */
import { type Claim } from '../schemes.ts'
import { type Base, bytesOf, lines, signatureOf, type Variant, withClaim, withSignature } from './base.ts'

/** Each delivery is signed correctly. Only its time is wrong. */
export function hostileTimes(base: Base): Variant[] {
  const now = Number(base.claim.timestamp)
  const times: [string, string][] = [
    ['301 seconds old', `${now - 301}`],
    // The clock may pass a second between signing and arrival.
    ['301 seconds ahead, and some for the way', `${now + 330}`],
    ['a day old', `${now - 86_400}`],
    ['a day ahead', `${now + 86_400}`],
    ['milliseconds', `${now}000`],
    ['microseconds', `${now}000000`],
    ['a fraction', `${now}.5`],
    ['a fraction of nothing', `${now}.0`],
    ['a point', `${now}.`],
    ['a plus sign', `+${now}`],
    ['a minus sign', `-${now}`],
    ['hexadecimal', `0x${now.toString(16)}`],
    ['hexadecimal without a sign of it', now.toString(16)],
    ['octal', `0o${now.toString(8)}`],
    ['binary', `0b${now.toString(2)}`],
    ['Infinity', 'Infinity'],
    ['NaN', 'NaN'],
    ['an exponent', '1e9'],
    ['an exponent that is now', `${now / 1e9}e9`],
    ['an exponent beyond all times', '1e99'],
    ['separators', `${now}`.replace(/^(.)(...)(...)/, '$1_$2_$3_')],
    ['a letter after it', `${now}x`],
    ['a blank inside', `${now}`.replace(/^(....)/, '$1 ')],
    ['a big integer', `${now}n`],
    ['quotes', `"${now}"`],
    ['a date', new Date(now * 1000).toISOString()],
    ['zero', '0'],
    ['twenty digits', `${now}${now}`],
    ['no digits', 'now'],
    ['nothing', ''],
    ['null', 'null'],
  ]
  const shifted = (seconds: number) => ({
    ...base,
    claim: { ...base.claim, timestamp: String(now + seconds) },
  })
  return [
    ...times.map(([what, timestamp]): Variant => [`time: ${what}`, withClaim(base, { timestamp })]),
    ['time: a second after the signed one', withSignature(shifted(1), base.signature)],
    ['time: a second before the signed one', withSignature(shifted(-1), base.signature)],
    [
      'time: now, with a signature of an hour ago',
      withSignature(base, signatureOf(base.scheme, shifted(-3_600).claim)),
    ],
  ]
}

/** The signed text is the same, but the boundary between its parts is elsewhere. */
export function hostileBoundaries(base: Base): Variant[] {
  const { scheme, claim } = base
  const shift = (what: string, signed: Partial<Claim>, sent: Partial<Claim>): Variant[] => {
    const from = { ...claim, ...signed }
    const to = { ...claim, ...sent }
    const covered = scheme.covered(from)
    if (!covered.equals(scheme.covered(to))) return []
    const headers = lines({ ...base.extra, ...scheme.headers(signatureOf(scheme, from), to) })
    return [[`boundary: ${what}`, { headers, body: to.body }]]
  }
  const { timestamp, body, id } = claim
  return [
    ...shift('a digit of the body in the time', { body: bytesOf('7', body) }, { timestamp: `${timestamp}7` }),
    ...shift('a brace of the body in the time', {}, { timestamp: `${timestamp}{`, body: body.subarray(1) }),
    ...shift('a bracket of the body in the time', {}, { timestamp: `${timestamp}[`, body: body.subarray(1) }),
    ...shift(
      'a digit of the time in the body',
      {},
      { timestamp: timestamp.slice(0, -1), body: bytesOf(timestamp.slice(-1), body) },
    ),
    ...shift('a fraction', { body: bytesOf('5.', body) }, { timestamp: `${timestamp}.5` }),
    ...shift('a word', { body: bytesOf('x:', body) }, { timestamp: `${timestamp}:x` }),
    ...shift('the time in the id', { body: bytesOf(`${timestamp}.`, body) }, { id: `${id}.${timestamp}`, timestamp }),
    ...shift('the whole time in the body', {}, { timestamp: '', body: bytesOf(timestamp, body) }),
  ]
}
