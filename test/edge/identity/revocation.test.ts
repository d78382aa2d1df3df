/** Roles come from the database at each request, never from a token or an earlier request (contract 3.5, 5.6). */
import { describe, expect, it } from 'vitest'
import { connectionKinds } from '../../support/connections.ts'
import { useStack } from '../../support/stack.ts'

/** Number of users, whose roles change at the same time. */
const people = 5
/** Number of times that the role of each is assigned and revoked. */
const rounds = 100

describe.each(connectionKinds)('$kind', ({ variables }) => {
  const probe = useStack('test/edge/probe', { ...variables, PROBE_SECRET: 'secret' })

  it('a role that changes a thousand times: 200 and 403 on the very next request of the same token', async () => {
    const wrong: unknown[] = []
    const changes = await Promise.all(
      Array.from({ length: people }, async (_, index) => {
        const { id, token } = await probe.signUp()
        // The rules name the role, a permission of the role, and the role on a public route.
        const path = ['/guarded', '/default', '/open/role', '/open/permission', '/guarded'][index]!
        const enter = async (expected: number, round: number) => {
          const { status, json } = await probe.call(path, { token })
          const isRight = status === expected && (status === 200 || json.error === 'forbidden')
          if (!isRight) wrong.push({ path, round, expected, status, json })
        }
        let made = 0
        await enter(403, -1)
        for (let round = 0; round < rounds; round++) {
          const granted = await probe.role('PUT', id, 'insider')
          await enter(200, round)
          const revoked = await probe.role('DELETE', id, 'insider')
          await enter(403, round)
          if (granted.status < 300 && revoked.status < 300) made += 2
        }
        return made
      }),
    )
    expect(wrong).toEqual([])
    expect(changes).toEqual(Array.from({ length: people }, () => rounds * 2))
  }, 120_000)

  it('a role revoked for one is still held by another, whoever asks meanwhile', async () => {
    const [stays, leaves] = [await probe.signUp(), await probe.signUp()]
    await probe.role('PUT', stays.id, 'insider')
    await probe.role('PUT', leaves.id, 'insider')
    await probe.role('DELETE', leaves.id, 'insider')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => probe.call('/guarded', { token: (index % 2 ? stays : leaves).token })),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, index) => (index % 2 ? 200 : 403)))
  })
})
