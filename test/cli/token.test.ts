/** `stack token`: an access token, and a device, of a user of the local stack (contract 10.5). */
import { describe, expect, it } from 'vitest'
import { stack } from '../support/command.ts'
import { useStack } from '../support/stack.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'secret' })
const run = (...words: string[]) => stack(['token', ...words], { cwd: probe.root })

describe('a token', () => {
  it('is of the user that is named by address or id, and the trail says who issued it', async () => {
    const person = await probe.signUp()
    for (const user of [person.email, person.id]) {
      const { code, stdout, stderr } = await run(user)
      expect([code, stderr]).toEqual([0, 'probe/local\n'])
      const { json } = await probe.call('/auth/user', { token: stdout.trim() })
      expect(json.id).toBe(person.id)
    }
    const entries = await probe.sql<{ actor_type: string }>(
      `select actor_type from auth.audit where event_type = 'session.issued_locally' and target_id = $1`,
      [person.id],
    )
    expect(entries.map(({ actor_type }) => actor_type)).toEqual(['service', 'service'])
  })

  it('is not issued for a user who does not exist or is disabled', async () => {
    const { id, email } = await probe.signUp()
    await probe.sql('update auth.users set disabled_at = now() where id = $1', [id])
    for (const user of [id, email, 'usr_nobody']) {
      const { code, stdout, stderr } = await run(user)
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('user_not_found: ')])
    }
    const unknown = await run('nobody@example.com')
    expect([unknown.code, unknown.stderr]).toContain(1)
    expect(unknown.stderr).toContain('no user of the local stack has the address nobody@example.com')
  })

  it('--device prints both headers of one request, and the device that they prove', async () => {
    const { email } = await probe.signUp()
    const { code, stdout } = await run(email, '--device', 'POST /whatever?a=1', '--data', '{}')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^authorization: Bearer [\w.-]+\ndevice-assertion: v=1, k=[\w-]+, t=\d+, n=[\w-]+, es256=[\w-]+\n$/,
    )
    for (const words of [
      ['--device', 'orders'],
      ['--device', 'GET'],
      ['--data', '{}'],
    ]) {
      expect((await run(email, ...words)).code).toBe(2)
    }
  })
})
