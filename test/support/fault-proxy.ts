/** Stands between a worker and Postgres, and fails one connection at the moment that a test names. */
import net from 'node:net'

/** What the worker is about to send: the phases of its connection, in order. */
type Phase = 'start-up' | 'password' | 'bind' | 'statement' | 'commit'

export interface Fault {
  at: Phase
  /** `before` Postgres has seen it, or `after` it has done it and nobody has heard of that. */
  when: 'before' | 'after'
  /** Both sides are cut; or nothing comes through any more; or nothing does until it is released. */
  how: 'cut' | 'silence' | 'hold'
}

interface Struck {
  /** Lets what was held pass. */
  release(): void
}

export class FaultProxy {
  port = 0
  /** So many were accepted so far. */
  connections = 0
  #upstreamPort: () => number
  #server = net.createServer({ noDelay: true }, (client) => this.#accept(client))
  #open = new Set<net.Socket>()
  #waiting: { fault: Fault; struck: (struck: Struck) => void }[] = []

  /** @param upstreamPort asked for each connection: where Postgres is, is known later than where the proxy is. */
  constructor(upstreamPort: () => number) {
    this.#upstreamPort = upstreamPort
  }

  /** @returns itself, when it listens: again on its port, where it had one. */
  listen(): Promise<this> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.port, '127.0.0.1', () => {
        this.#server.off('error', reject)
        this.port = (this.#server.address() as net.AddressInfo).port
        resolve(this)
      })
    })
  }

  /** Connections are refused from now on, until it listens again; those that are open are cut. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      for (const socket of this.#open) socket.destroy()
    })
  }

  /** Fails the next connection that is accepted, once. @returns when it has happened. */
  next(fault: Fault): Promise<Struck> {
    return new Promise((struck) => this.#waiting.push({ fault, struck }))
  }

  #accept(client: net.Socket): void {
    this.connections++
    const waiting = this.#waiting.shift()
    const upstream = net.connect({ port: this.#upstreamPort(), host: '127.0.0.1', noDelay: true })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#open.delete(socket)
        other.destroy()
      })
    }
    const phaseOf = phases()
    let held: (() => void)[] | undefined
    let isAwaitingAnswer = false
    const strike = (first?: () => void) => {
      held = first ? [first] : []
      if (waiting!.fault.how === 'cut') {
        client.destroy()
        upstream.destroy()
      }
      waiting!.struck({
        release() {
          for (const pass of held ?? []) pass()
          held = undefined
        },
      })
    }
    const pass = (isStruck: boolean, write: () => void) => {
      if (held) held.push(write)
      else if (isStruck) strike(write)
      else write()
    }
    let hasStruck = false
    const isDue = (when: Fault['when'], isThere: boolean) => {
      if (hasStruck || !waiting || waiting.fault.when !== when || !isThere) return false
      hasStruck = true
      return true
    }
    client.on('data', (data: Buffer) => {
      for (const { phase, bytes } of phaseOf(data)) {
        const isHere = phase === waiting?.fault.at
        pass(isDue('before', isHere), () => upstream.write(bytes))
        isAwaitingAnswer ||= isHere && waiting?.fault.when === 'after'
      }
    })
    upstream.on('data', (data: Buffer) => pass(isDue('after', isAwaitingAnswer), () => client.write(data)))
  }
}

/** Splits what a worker sends into messages of Postgres' protocol, each with the phase that it belongs to. */
function phases() {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = false
  let isBound = false
  return function* (data: Buffer): Generator<{ phase: Phase; bytes: Buffer }> {
    rest = Buffer.concat([rest, data])
    for (;;) {
      // the first message has no type
      const typeLength = isStarted ? 1 : 0
      if (rest.length < typeLength + 4) return
      const length = typeLength + rest.readInt32BE(typeLength)
      if (rest.length < length) return
      const bytes = rest.subarray(0, length)
      const type = isStarted ? String.fromCharCode(bytes[0]!) : ''
      rest = rest.subarray(length)
      isStarted = true
      if (type === '') yield { phase: 'start-up', bytes }
      else if (type === 'p') yield { phase: 'password', bytes }
      else if (type === 'Q' && bytes.toString('latin1', 5, 11) === 'COMMIT') yield { phase: 'commit', bytes }
      else yield { phase: isBound ? 'statement' : 'bind', bytes }
      // Sync: a flight ends
      isBound ||= type === 'S'
    }
  }
}
