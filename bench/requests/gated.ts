/** Two routes behind a permission, with one query each under row-level security, and a real Postgres. */
import type { Sender } from '../threads.ts'
import type { WorkerModule } from '../workerd.ts'
import { startDatabase } from './database.ts'
import { gatedRequests } from './gated-requests.ts'
import { gatedWorkers } from './gated-workers.ts'
import type { Issuer } from './issuer.ts'
import { serveKeySet } from './key-set.ts'
import { benchRoundTrips } from './round-trips.ts'
import { benchThroughput } from './throughput.ts'

/** @param built the bundle of the project. @param folder the folder of the database. */
export async function benchGated(
  built: readonly WorkerModule[],
  issuer: Issuer,
  sender: Sender,
  folder: string,
): Promise<void> {
  const database = await startDatabase(folder)
  const keySet = await serveKeySet(issuer.keySet)
  try {
    const requests = gatedRequests(await issuer.token())
    const workers = await gatedWorkers(built, issuer, database, keySet.url)
    await benchRoundTrips(workers, requests, database, sender)
    if (!workers.variants.includes('held')) console.log('  the bundle holds no connections: they are left out')
    await benchThroughput(workers, requests, database, sender)
  } finally {
    keySet.close()
    await database.stop()
  }
}
