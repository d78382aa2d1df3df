/** Starts and ends the NestJS peer. */
import { fork } from 'node:child_process'
import type { PlainRoute } from '../build/routes-200.ts'

export interface NestOptions {
  pem: string
  issuer: string
  audience: string
  otherRoutes: PlainRoute[]
}

export interface Server {
  port: number
  pid: number
  stop(): Promise<void>
}

/** Resolves when the peer listens. */
export async function startNest(options: NestOptions): Promise<Server> {
  const child = fork(new URL('./nest.ts', import.meta.url), [JSON.stringify(options)], {
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await Promise.race([
    new Promise<number>((resolve) => child.once('message', resolve as (message: unknown) => void)),
    ended.then(() => Promise.reject(new Error('the NestJS peer ended before it listened'))),
  ])
  return {
    port,
    pid: child.pid!,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
