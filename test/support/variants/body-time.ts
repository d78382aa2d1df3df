/** Variants for Linear: the time is a member of the signed body. */
import { type Base, bytesOf, type Delivery, type SchemeVariants, type Variant, withClaim } from './base.ts'

const withHeaderAdded = ({ headers, ...delivery }: Delivery, name: string, value: string): Delivery => ({
  ...delivery,
  headers: [...headers, [name, value]],
})

/** Each delivery is signed correctly. Only the time in its body is wrong. */
function hostile(base: Base): Variant[] {
  const now = Date.now()
  const { webhookTimestamp: _, ...rest } = JSON.parse(Buffer.from(base.claim.body).toString())
  const of = (fields: object): Delivery => withClaim(base, { body: bytesOf(JSON.stringify({ ...rest, ...fields })) })
  const times: [string, unknown][] = [
    ['301 seconds old', now - 302_000],
    ['301 seconds ahead, and some for the way', now + 330_000],
    ['a day old', now - 86_400_000],
    ['in seconds', Math.floor(now / 1000)],
    ['in microseconds', now * 1000],
    ['a fraction', now + 0.5],
    ['in words', String(now)],
    ['a date', new Date(now).toISOString()],
    ['a list', [now]],
    ['null', null],
    ['beyond all times', 1e99],
    ['negative', -now],
  ]
  return [
    ...times.map(([what, webhookTimestamp]): Variant => [`time: ${what}`, of({ webhookTimestamp })]),
    ['no time', of({})],
    ['the time within', of({ data: { webhookTimestamp: now } })],
    ['the time in another case', of({ webhooktimestamp: now })],
    ['the time in a header alone', withHeaderAdded(of({}), 'linear-timestamp', String(now))],
    [
      'two times, the last one old',
      withClaim(base, {
        body: bytesOf(`{"type":"Issue","action":"create","webhookTimestamp":${now},"webhookTimestamp":1}`),
      }),
    ],
  ]
}

function legitimate(base: Base): Variant[] {
  const { body } = base.claim
  const sent = JSON.parse(Buffer.from(body).toString())
  return [-290_000, -1_000, 1_000, 290_000].map((age) => [
    `${age} milliseconds old, by its body`,
    withClaim(base, { body: bytesOf(JSON.stringify({ ...sent, webhookTimestamp: Date.now() - age })) }),
  ])
}

export const bodyTimeVariants: SchemeVariants = { hostile, legitimate }
