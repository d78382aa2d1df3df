/** Compares the time to verify a token with the time for its signature alone: many in turn, in one request. */
import path from 'node:path'
import { bundle } from '../bundle.ts'
import { load } from '../load.ts'
import { printRow } from '../print-row.ts'
import { interleave, median, ratios } from '../statistics.ts'
import type { Sender } from '../threads.ts'
import { reportsCpu } from '../usage.ts'
import { startWorkerd } from '../workerd.ts'
import { request } from './asking.ts'
import type { Issuer } from './issuer.ts'

/** Number of verifications in a request, beside which the time of the request itself does not count. */
const count = 4_000

/** Number of counted rounds: enough for a median. */
const rounds = 7

export async function benchVerifying(issuer: Issuer, sender: Sender): Promise<void> {
  console.log(`\na token is verified, ${count} times in a request; medians of ${rounds} interleaved rounds`)
  const modules = await bundle(path.join(import.meta.dirname, 'workers/verify.ts'))
  const bindings = { ...issuer.bindings, SIGNING_KEY: issuer.jwk, TOKEN: await issuer.token() }
  const worker = await startWorkerd('/', modules, bindings)
  const measure = (verifier: string) => async () => {
    const requests = [request('GET', `/${verifier}?${count}`)]
    const job = { requests, expected: { status: 200 }, count: 1, connections: 1 }
    const { cpuMs, medianMs } = await load(sender, worker, job)
    return ((reportsCpu ? cpuMs : medianMs) * 1000) / count
  }
  try {
    const variants = { signature: measure('signature'), runtime: measure('runtime'), jose: measure('jose') }
    await interleave(1, variants)
    const values = await interleave(rounds, variants)
    const report = (label: string, name: string, target?: string) => {
      const own = values[name]!
      const ratio = name === 'signature' ? undefined : median(ratios(own, values['signature']!))
      printRow(label, `${median(own).toFixed(1)} µs`, ratio, target)
    }
    report('crypto.subtle.verify alone', 'signature')
    report('the runtime', 'runtime', '≤ 1.25')
    report('jose', 'jose')
  } finally {
    await worker.stop()
  }
}
