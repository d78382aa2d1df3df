/** Two routes behind a permission, with one query each under row-level security, and a real Postgres. */
import type { Requests } from '../load.ts'
import type { Sender } from '../threads.ts'
import type { WorkerModule } from '../workerd.ts'
import { request } from './asking.ts'
import { oldestNotes, startDatabase } from './database.ts'
import { gatedWorkers } from './gated-workers.ts'
import type { Issuer } from './issuer.ts'
import { serveKeySet } from './key-set.ts'
import { benchRoundTrips } from './round-trips.ts'
import { benchThroughput } from './throughput.ts'

export type Asked = Record<'read' | 'write', Pick<Requests, 'requests' | 'expected'>>

/** @param built of the project. @param folder where the database is kept. */
export async function benchGated(
  built: readonly WorkerModule[],
  issuer: Issuer,
  sender: Sender,
  folder: string,
): Promise<void> {
  const database = await startDatabase(folder)
  const keySet = await serveKeySet(issuer.keySet)
  try {
    const asked = requests(await issuer.token())
    const workers = await gatedWorkers(built, issuer, database, keySet.url)
    await benchRoundTrips(workers, asked, database, sender)
    if (!workers.variants.includes('held')) console.log('  the bundle holds no connections: that is left out')
    await benchThroughput(workers, asked, database, sender)
  } finally {
    keySet.close()
    await database.stop()
  }
}

function requests(token: string): Asked {
  const note = '{"text":"one more"}'
  return {
    read: {
      requests: [request('GET', '/notes', token)],
      expected: { status: 200, body: JSON.stringify(oldestNotes) },
    },
    write: {
      requests: [request('POST', '/notes', token, note)],
      expected: { status: 201, body: note },
    },
  }
}
