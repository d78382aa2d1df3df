/** The local Postgres has the settings of the edge, whatever machine it runs on. */
import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startPostgres } from '../../local/postgres.ts'
import { temporaryFolder } from '../support/project.ts'

describe('the time zone', () => {
  it('is UTC in a new cluster and in an old one, also on a machine of another zone', async () => {
    const directory = temporaryFolder()
    for (const zone of ['Asia/Kathmandu', 'America/St_Johns']) {
      vi.stubEnv('TZ', zone)
      onTestFinished(() => void vi.unstubAllEnvs())
      const postgres = await startPostgres({ directory, password: 'password' })
      const client = new pg.Client(`postgresql://postgres:password@127.0.0.1:${postgres.port}/postgres`)
      try {
        await client.connect()
        const { rows } = await client.query(
          `select current_setting('TimeZone') as zone, timestamptz '2026-06-01 12:00:00Z' :: text as text`,
        )
        expect(rows).toEqual([{ zone: 'UTC', text: '2026-06-01 12:00:00+00' }])
      } finally {
        await client.end()
        await postgres.stop()
      }
    }
  })
})
