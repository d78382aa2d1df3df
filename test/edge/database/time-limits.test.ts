/** A request may hold a transaction for 30 s, with 10 s for a statement and 10 s for a pause (contract 5.6, 5.7). */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { connectionKinds } from '../../support/connections.ts'
import { useStack } from '../../support/stack.ts'

describe.each(connectionKinds)('$kind', ({ isKept, variables }) => {
  const probe = useStack('test/edge/probe', { ...variables, PROBE_SECRET: 'secret' })

  it('what is longer is cut, 503 and kept in no part; what is shorter is served', async () => {
    const { token } = await probe.signUp()
    const run = async (handler: 'slow' | 'pausing' | 'lasting', seconds: number) => {
      const text = randomUUID()
      const { status } = await probe.call(`/mine/${handler}/${text}?seconds=${seconds}`, { method: 'POST', token })
      const kept = await probe.sql('select text from notes where text like $1', [`${text}%`])
      return [handler, seconds, status, kept.length]
    }
    const answers: unknown[] = []
    const all: Parameters<typeof run>[] = [
      ['slow', 8],
      ['slow', 11],
      ['pausing', 8],
      ['pausing', 12],
      ['lasting', 20],
      ['lasting', 40],
    ]
    await Promise.all(all.map(async (one, index) => (answers[index] = await run(...one))))
    expect(answers).toEqual([
      ['slow', 8, 204, 2],
      ['slow', 11, 503, 0],
      ['pausing', 8, 204, 2],
      ['pausing', 12, 503, 0],
      ['lasting', 20, 204, 1],
      ['lasting', 40, 503, 0],
    ])
    const open = await probe.sql<{ state: string }>(
      `select state from pg_stat_activity where usename in ('stack_backend', 'stack_backend_service')`,
    )
    expect(open.filter(({ state }) => !(isKept && state === 'idle'))).toEqual([])
  })
})
