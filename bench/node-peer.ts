/** A peer in a Node process of its own. */
import { fork } from 'node:child_process'

export interface Server {
  port: number
  pid: number
  stop(): Promise<void>
}

/**
 * Forks a module, which gets the options as JSON in its first argument, and resolves with its first message: its port at least.
 * @param module a file that ends with its parent, and sends a message when it listens.
 */
export async function startNodePeer<Started extends { port: number }>(
  module: URL,
  options: unknown,
): Promise<Started & Server> {
  const child = fork(module, [JSON.stringify(options)], { env: { ...process.env, NODE_ENV: 'production' } })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const started = await Promise.race([
    new Promise<Started>((resolve) => child.once('message', (message) => resolve(message as Started))),
    ended.then(() => Promise.reject(new Error(`the peer ${module.pathname} ended before it listened`))),
  ])
  return {
    ...started,
    pid: child.pid!,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
