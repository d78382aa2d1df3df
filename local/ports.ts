/** Ports on loopback. get-port finds one. It skips ports that it returned before, so this file asks about a certain port. */
import { randomInt } from 'node:crypto'
import net from 'node:net'
import getPort, { portNumbers } from 'get-port'

const host = '127.0.0.1'
/** The port of wrangler's dev server, which developers of Workers expect. */
const defaultPort = 8787

/** Another process listens on the port. */
export class PortTaken extends Error {
  override name = 'PortTaken'

  constructor(port: number) {
    super(`port ${port} is taken by another process`)
  }
}

export function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = net.createServer()
  server.once('error', () => resolve(false))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  return promise
}

/** @returns a free port below the range of outgoing connections, so that none of them takes it meanwhile. */
export function findPort(): Promise<number> {
  const first = randomInt(20_000, 31_000)
  return getPort({ port: portNumbers(first, first + 999), host })
}

/**
 * Chooses the port of a stack.
 * @param wanted must be free. The default is 8787, or the next free one.
 * @param isReleasing waits up to 2 s, because a process that was just ended may hold the port for a moment.
 * @throws PortTaken
 */
export async function choosePort(
  wanted: number | undefined,
  isReleasing: boolean,
  say: (line: string) => void,
): Promise<number> {
  for (let tries = 0; isReleasing && tries < 40 && !(await isFree(wanted ?? defaultPort)); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  if (wanted !== undefined) {
    if (await isFree(wanted)) return wanted
    throw new PortTaken(wanted)
  }
  const free = await getPort({ port: portNumbers(defaultPort, defaultPort + 99), host })
  if (free !== defaultPort) say(`port ${defaultPort} is taken by another process: using ${free}`)
  return free
}
