/** Rate limits of routes, which the platform's binding counts, in workerd (contract 2.7). */
import { beforeEach, describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const probe = useStack('test/edge/probe')
const statuses = async (paths: string[], token?: string) => {
  const found: number[] = []
  for (const path of paths) found.push((await probe.call(path, token === undefined ? {} : { token })).status)
  return found
}

/** Time in milliseconds that a test needs. The platform counts by whole minutes, so a test waits for a new one if needed. */
const neededMs = 10_000
beforeEach(async () => {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < neededMs) await new Promise((resolve) => setTimeout(resolve, left))
})

describe('a limit', () => {
  it('of a controller is counted over its routes, by address', async () => {
    const asked = await statuses(['/limited/one', '/limited/two', '/limited/one', '/limited/two', '/limited/one'])
    expect(asked).toEqual([200, 200, 200, 429, 429])
    const answer = await probe.call('/limited/one')
    expect([answer.status, answer.json.error, answer.headers.get('retry-after')]).toEqual([429, 'rate_limited', '60'])
  })

  it('of a route replaces its controller’s, and counts each user apart, whatever the parameters', async () => {
    const [one, other] = [await probe.signUp(), await probe.signUp()]
    const paths = ['/limited/mine/1', '/limited/mine/2', '/limited/mine/3']
    expect(await statuses(paths, one.token)).toEqual([200, 200, 429])
    expect(await statuses(paths.slice(1), other.token)).toEqual([200, 200])
  })

  it('counts only who may come so far: a 401 is none, a 403 is one', async () => {
    expect(await statuses(Array(4).fill('/limited/mine/1'))).toEqual([401, 401, 401, 401])
    const person = await probe.signUp()
    expect(await statuses(Array(3).fill('/limited/staff'), person.token)).toEqual([403, 403, 429])
  })
})
