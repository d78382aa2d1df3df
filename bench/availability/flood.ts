/** A thread that sends hostile requests until a message stops it. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Flood, huge, repeated, stalled, type Target } from '../../test/support/floods.ts'

export type FloodName = 'stalled' | 'signUps' | 'huge' | 'waiting' | 'sleeping'

export interface FloodJob {
  name: FloodName
  url: string
  /** Access token of the attacker's account. */
  token: string
}

const { name, url, token } = workerData as FloodJob
const as = (target: string): Target => ({ url, target, headers: [['authorization', `Bearer ${token}`]] })

const floods: Record<FloodName, () => Flood> = {
  stalled: () => stalled(as('/notes'), 60),
  signUps: () => stalled({ url, target: '/auth/sign-up', headers: [] }, 60),
  huge: () => huge({ url, target: '/auth/sign-up', headers: [] }, 4, 100_000_000, false),
  waiting: () => repeated({ ...as('/notes/waiting'), method: 'POST' }, 60),
  sleeping: () => repeated({ ...as('/notes/sleeping'), method: 'POST' }, 60),
}

const flood = floods[name]()
setTimeout(() => parentPort!.postMessage('running'), 1_000)
parentPort!.once('message', async () => {
  await flood.stop()
  process.exit(0)
})
