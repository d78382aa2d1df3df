/** Stands between a worker and Postgres, and fails one connection at the moment that a test names. */
import net from 'node:net'

/** What the worker is about to send: the phases of its connection, in order. */
type Phase = 'start-up' | 'password' | 'bind' | 'statement' | 'commit' | 'return'

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

interface Waiting {
  fault: Fault
  struck(struck: Struck): void
}

export class FaultProxy {
  port = 0
  /** So many were accepted so far. */
  connections = 0
  #upstreamPort: () => number
  #server = net.createServer({ noDelay: true }, (client) => this.#accept(client))
  /** What ends each connection, but for those that are held. */
  #open = new Map<net.Socket, { isHeld: boolean }>()
  #waiting: Waiting[] = []

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
      for (const socket of this.#open.keys()) socket.destroy()
    })
  }

  /** Whoever kept a connection open must make a new one; those that a fault holds stay. */
  cutKept(): void {
    for (const [socket, { isHeld }] of this.#open) if (!isHeld) socket.destroy()
  }

  /** Fails the first connection that comes to this moment, once. @returns when it has happened. */
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
    /** What strikes when the next answer comes. */
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
      for (const { phase, bytes } of phaseOf(data)) {
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

/** Splits what a worker sends into messages of Postgres' protocol, each with the phase that it belongs to. */
function phases() {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = false
  /** Of the flight that has begun and not ended. */
  let flight: Phase | undefined
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
      if (type === '' || type === 'p') {
        yield { phase: type === 'p' ? 'password' : 'start-up', bytes }
        continue
      }
      // the text of Parse follows its name, which is empty
      flight ??= phaseOfFlight(bytes.toString('latin1', type === 'Q' ? 5 : 6))
      yield { phase: flight, bytes }
      if (type === 'S' || type === 'Q') flight = undefined
    }
  }
}

function phaseOfFlight(text: string): Phase {
  if (text.startsWith('begin ')) return 'bind'
  if (text.startsWith('COMMIT')) return 'commit'
  return /^(?:commit|rollback); close all;/.test(text) ? 'return' : 'statement'
}
