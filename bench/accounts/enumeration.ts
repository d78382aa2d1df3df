/** Whether the time of an answer tells that an address is known: requests for known and unknown addresses in random order. */
import type { Recorded } from '../client.ts'
import { ms, printRow } from '../print-row.ts'
import { median } from '../statistics.ts'
import type { Sender } from '../threads.ts'
import { type AccountsStack, newAddress, password, post } from './stack.ts'

/** Number of requests for each kind of address. Each address is asked for once, so that its limit's row is new for every kind. */
const count = 200
/** Number of requests of each kind that are not counted: V8 has not optimized the code yet. */
const warm = 5
/**
 * Milliseconds after an answer that has a mail behind it. The mail is made and sent meanwhile, and delays no later answer, which may be
 * one for another kind of address.
 */
const pauseMs = 20

/** Largest ratio of two medians that a client cannot use. */
const aim = 1.1

export async function benchEnumeration(stack: AccountsStack, sender: Sender): Promise<void> {
  console.log(`\n${count} requests for each kind of address, in random order; the time of an answer`)
  console.log('all from one network, whose limits are raised in the settings, as those of the accounts are')
  console.log('bodies are equal but for the request id; mail goes to the mailbox of the local stack, after the answer')
  const all = count + warm
  const unknown = () => Array.from({ length: all }, newAddress)
  const known = (state: 'confirmed' | 'unconfirmed' | 'disabled') => stack.people(all, state)
  await compare(
    stack,
    sender,
    '/auth/sign-in/password',
    0,
    { password: 'a wrong password' },
    {
      'an unknown address': unknown(),
      'a wrong password': await known('confirmed'),
      'not confirmed, a wrong password': await known('unconfirmed'),
    },
  )
  await compare(
    stack,
    sender,
    '/auth/password/forgot',
    pauseMs,
    {},
    {
      'an unknown address': unknown(),
      'a known address': await known('confirmed'),
      'a disabled account': await known('disabled'),
    },
  )
  await compare(
    stack,
    sender,
    '/auth/sign-up',
    pauseMs,
    { password },
    {
      'a new address': unknown(),
      'a known address': await known('confirmed'),
    },
  )
}

/** @throws Error for answers that differ. */
async function compare(
  { port }: AccountsStack,
  sender: Sender,
  to: string,
  pauseMs: number,
  fields: object,
  kinds: Record<string, string[]>,
): Promise<void> {
  const asked = Object.entries(kinds).flatMap(([kind, emails]) =>
    emails.map((email, index) => ({ kind, isWarm: index < warm, body: { email, ...fields } })),
  )
  const order = [...shuffled(asked.filter(({ isWarm }) => isWarm)), ...shuffled(asked.filter(({ isWarm }) => !isWarm))]
  const requests = order.map(({ body }) => post(to, body))
  const { each } = await sender.run({ what: 'each', port, requests, pauseMs })
  requireEqual(to, each!)
  const times = (kind: string) =>
    each!.filter((_, index) => order[index]!.kind === kind && !order[index]!.isWarm).map((one) => one.milliseconds)
  const [first, ...others] = Object.keys(kinds) as [string, ...string[]]
  const [base, baseP90] = [median(times(first)), p90(times(first))]
  printRow(`${to}: ${first}`, ms(base))
  printRow('  p90', ms(baseP90))
  printRow('  every second one of them to the others: the noise', '', noise(times(first)))
  for (const kind of others) {
    const own = times(kind)
    printRow(`${to}: ${kind}`, ms(median(own)), median(own) / base, `${(1 / aim).toFixed(2)} to ${aim.toFixed(2)}`)
    printRow('  p90', ms(p90(own)), p90(own) / baseP90)
  }
}

/** The ratio of two medians of one kind. One of two kinds that lies no further from 1 tells nothing. */
function noise(values: readonly number[]): number {
  const half = (rest: number) => median(values.filter((_, index) => index % 2 === rest))
  return half(1) / half(0)
}

function p90(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length * 0.9)]!
}

/** @throws Error for answers that differ in more than the request id. */
function requireEqual(to: string, answers: readonly Recorded[]): void {
  const shapes = new Set(
    answers.map(({ status, body }) => `${status} ${body.replace(/"request_id":"[^"]*"/, '"request_id":""')}`),
  )
  if (shapes.size !== 1) throw new Error(`${to} gives ${shapes.size} different answers: ${[...shapes].join('\n')}`)
}

/** The algorithm of Fisher and Yates. */
function shuffled<T>(values: readonly T[]): T[] {
  const result = [...values]
  for (let last = result.length - 1; last > 0; last--) {
    const chosen = Math.floor(Math.random() * (last + 1))
    const value = result[last]!
    result[last] = result[chosen]!
    result[chosen] = value
  }
  return result
}
