/** Stands between a worker and Postgres, and fails one connection at the moment that a test names. */
import net from 'node:net'

/** The phases of a connection in order, by what the worker sends next. */
export type Phase = 'start-up' | 'password' | 'bind' | 'statement' | 'commit' | 'return'

export interface Fault {
  at: Phase
  /** `before` the message reaches Postgres, or `after` Postgres has acted on it and before its answer reaches the worker. */
  when: 'before' | 'after'
  /** `cut` closes both sockets. `silence` forwards nothing more. `hold` forwards nothing until the test releases it. */
  how: 'cut' | 'silence' | 'hold'
}

interface Struck {
  /** Forwards the bytes that were held. */
  release(): void
}

interface Waiting {
  fault: Fault
  struck(struck: Struck): void
}

export class FaultProxy {
  port = 0
  /** Number of connections accepted so far. */
  connections = 0
  /** What the worker has sent so far and awaits one answer for: each is one round trip to Postgres. */
  readonly flights: Phase[] = []
  #upstreamPort: () => number
  #server = net.createServer({ noDelay: true }, (client) => this.#accept(client))
  /** Every open socket, and whether a fault holds its connection. */
  #open = new Map<net.Socket, { isHeld: boolean }>()
  #waiting: Waiting[] = []

  /** @param upstreamPort called for each connection, because Postgres starts after the proxy. */
  constructor(upstreamPort: () => number) {
    this.#upstreamPort = upstreamPort
  }

  /** Listens, on the same port as before if there was one. */
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

  /** Closes every connection, and refuses new ones until it listens again. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      for (const socket of this.#open.keys()) socket.destroy()
    })
  }

  /** Number of connections that are open. */
  get open(): number {
    return this.#open.size / 2
  }

  /** Closes the connections that the pool keeps open. Those that a fault holds stay. */
  cutKept(): void {
    for (const [socket, { isHeld }] of this.#open) if (!isHeld) socket.destroy()
  }

  /** Fails the first connection that reaches this moment, once. Resolves when that has happened. */
  next(fault: Fault): Promise<Struck> {
    return new Promise((struck) => this.#waiting.push({ fault, struck }))
  }

  #accept(client: net.Socket): void {
    this.connections++
    const upstream = net.connect({ port: this.#upstreamPort(), host: '127.0.0.1', noDelay: true })
    const state = { isHeld: false }
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#open.set(socket, state)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#open.delete(socket)
        other.destroy()
      })
    }
    const phaseOf = phases()
    let held: (() => void)[] | undefined
    /** The fault that strikes at the next answer of Postgres. */
    let awaited: Waiting | undefined
    const strike = ({ fault, struck }: Waiting, first: () => void) => {
      held = [first]
      state.isHeld = true
      if (fault.how === 'cut') {
        client.destroy()
        upstream.destroy()
      }
      struck({
        release() {
          for (const pass of held ?? []) pass()
          held = undefined
          state.isHeld = false
        },
      })
    }
    client.on('data', (data: Buffer) => {
      for (const { phase, bytes, endsFlight } of phaseOf(data)) {
        if (endsFlight) this.flights.push(phase)
        const write = () => upstream.write(bytes)
        const due = held || this.#waiting[0]?.fault.at !== phase ? undefined : this.#waiting.shift()
        if (due?.fault.when === 'before') strike(due, write)
        else if (held) held.push(write)
        else write()
        if (due?.fault.when === 'after') awaited = due
      }
    })
    upstream.on('data', (data: Buffer) => {
      const write = () => client.write(data)
      if (awaited) strike(awaited, write)
      else if (held) held.push(write)
      else write()
      awaited = undefined
    })
  }
}

/** Splits the bytes of a worker into messages of Postgres' protocol, and tells the phase of each. */
function phases() {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = false
  /** The phase of the batch of messages that has begun and not ended. */
  let flight: Phase | undefined
  return function* (data: Buffer): Generator<{ phase: Phase; bytes: Buffer; endsFlight: boolean }> {
    rest = Buffer.concat([rest, data])
    for (;;) {
      // The first message of the protocol has no type byte.
      const typeLength = isStarted ? 1 : 0
      if (rest.length < typeLength + 4) return
      const length = typeLength + rest.readInt32BE(typeLength)
      if (rest.length < length) return
      const bytes = rest.subarray(0, length)
      const type = isStarted ? String.fromCharCode(bytes[0]!) : ''
      rest = rest.subarray(length)
      isStarted = true
      if (type === '' || type === 'p') {
        yield { phase: type === 'p' ? 'password' : 'start-up', bytes, endsFlight: true }
        continue
      }
      // In a Parse message the text follows the statement's name, which is empty here.
      flight ??= phaseOfFlight(bytes.toString('latin1', type === 'Q' ? 5 : 6))
      const endsFlight = type === 'S' || type === 'Q'
      yield { phase: flight, bytes, endsFlight }
      if (endsFlight) flight = undefined
    }
  }
}

function phaseOfFlight(text: string): Phase {
  if (text.startsWith('begin ')) return 'bind'
  if (text.startsWith('COMMIT')) return 'commit'
  return /^(?:commit|rollback); close all;/.test(text) ? 'return' : 'statement'
}
