/** Counts the fetches of the key set: for many requests at once, while its address answers 500, and for unknown key ids. */
import { printRow } from '../print-row.ts'
import type { Sender } from '../threads.ts'
import { startWorkerd, type WorkerModule } from '../workerd.ts'
import { request } from './asking.ts'
import type { Issuer } from './issuer.ts'
import { type KeySetServer, serveKeySet } from './key-set.ts'

/** @param built the bundle of the project. */
export async function benchFetches(built: readonly WorkerModule[], issuer: Issuer, sender: Sender): Promise<void> {
  console.log('\nfetches of the key set')
  const signedIn = request('GET', '/profile', await issuer.token())
  const unknown = await Promise.all(
    Array.from({ length: 100 }, async (_, index) =>
      request('GET', '/profile', await issuer.token({}, `unknown-${index}`)),
    ),
  )
  const ask = (port: number, requests: Buffer[][], count: number, connections: number, status: number) =>
    sender.run({ what: 'send', port, requests, expected: { status }, count, connections })
  const report = (name: string, fetches: number, target: number) =>
    printRow(name, `${fetches}`, undefined, `target: ${target}`)

  await withWorker(built, issuer, issuer.keySet, async (port, keySet) => {
    await ask(port, [signedIn], 50, 50, 200)
    report('50 requests at once, none before', keySet.asked(), 1)
    const before = keySet.asked()
    await ask(port, unknown, unknown.length, 10, 401)
    report('then 100 requests, each with an unknown kid', keySet.asked() - before, 0)
  })
  await withWorker(built, issuer, undefined, async (port, keySet) => {
    await ask(port, [signedIn], 100, 10, 401)
    report('100 requests, and the address answers 500', keySet.asked(), 1)
  })
}

async function withWorker(
  built: readonly WorkerModule[],
  issuer: Issuer,
  body: string | undefined,
  work: (port: number, keySet: KeySetServer) => Promise<void>,
): Promise<void> {
  const keySet = await serveKeySet(body)
  try {
    const worker = await startWorkerd('/plain', built, { ...issuer.bindings, AUTH_JWKS_URL: keySet.url })
    await work(worker.port, keySet).finally(worker.stop)
  } finally {
    keySet.close()
  }
}
