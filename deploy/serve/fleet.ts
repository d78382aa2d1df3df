/** The workerd processes of a served stack: one for each socket, restarted when they die, replaced one after the other at a reload. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessMetrics, ScheduledCall } from '../workers/control-protocol.ts'
import { type ListeningSocket, openSockets, sharesPort } from './sockets.ts'
import { startWorkerd, type Workerd } from './workerd.ts'

/** A configuration that processes are started with. */
export interface Generation {
  number: number
  /** Writes the configuration of one process. */
  configOf(process: number): { config: string; control: string }
  environment: NodeJS.ProcessEnv
}

export interface FleetOptions {
  host: string
  port: number
  sockets: ListeningSocket[]
  count: number
  /** Longest time in milliseconds that requests in flight may take when a process is ended. */
  graceMs: number
  onLine: (line: string, process: number) => void
  onEvent: (event: FleetEvent) => void
}

interface FleetEvent {
  level: 'info' | 'warn' | 'error'
  message: string
  process: number
  pid?: number
}

export interface ProcessState {
  process: number
  pid: number | null
  restarts: number
  generation: number
}

export interface Fleet {
  /** Starts every process. @throws Error when one does not start. */
  start(generation: Generation): Promise<void>
  /** Replaces every process, one after the other. @throws Error when a new one does not start: the old one of its place serves on. */
  replace(generation: Generation): Promise<void>
  states(): ProcessState[]
  /** `undefined` for a process that does not answer. */
  metrics(): Promise<(ProcessMetrics | undefined)[]>
  runScheduled(call: ScheduledCall): Promise<boolean>
  /** @returns whether every request was finished. */
  stop(): Promise<boolean>
  kill(): void
}

/** A process that lived for as long was well: its end counts as the first one. */
const wellMs = 10_000
/** Wait in milliseconds from which a place counts as gone. A shorter one passes while its connections wait. */
const goneMs = 1_000
/** Wait in milliseconds before a process that died early is started again: doubled each time, up to the longest. */
const backOff = { first: 250, longest: 10_000 }

interface Place {
  process: number
  socket: ListeningSocket | undefined
  running: Workerd | undefined
  generation: Generation
  restarts: number
  /** Number of ends in a row that came early. */
  early: number
  /** Counts the replacements. A restart that finds another number has been overtaken by one. */
  replaced: number
}

export function createFleet({ host, port, sockets, count, graceMs, onLine, onEvent }: FleetOptions): Fleet {
  const places: Place[] = []
  const stopping = new AbortController()

  function start({ process, socket }: Place, { configOf, environment }: Generation): Promise<Workerd> {
    return startWorkerd({ ...configOf(process), environment, socket, onLine: (line) => onLine(line, process) })
  }

  function adopt(place: Place, running: Workerd, generation: Generation): void {
    Object.assign(place, { running, generation })
    const began = Date.now()
    running.ended.then(async (sentence) => {
      if (place.running !== running || stopping.signal.aborted) return // it was replaced, or is ended
      place.running = undefined
      place.early = Date.now() - began < wellMs ? place.early + 1 : 0
      onEvent({ level: 'error', message: `${sentence} by itself`, process: place.process, pid: running.pid })
      await restart(place)
    })
  }

  /** The first restart comes at once, on the same socket, so that waiting connections are served. */
  async function restart(place: Place): Promise<void> {
    const { replaced } = place
    const isOvertaken = () => stopping.signal.aborted || place.replaced !== replaced
    while (!isOvertaken()) {
      const waitMs = place.early === 0 ? 0 : Math.min(backOff.first * 2 ** (place.early - 1), backOff.longest)
      if (waitMs >= goneMs) closeSocket(place)
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
      if (isOvertaken()) return
      place.restarts += 1
      try {
        await reopen(place)
        const running = await start(place, place.generation)
        if (isOvertaken()) return running.kill()
        onEvent({ level: 'warn', message: 'workerd was started again', process: place.process, pid: running.pid })
        return adopt(place, running, place.generation)
      } catch (error) {
        place.early += 1
        const message = `workerd does not start again: ${(error as Error).message}`
        onEvent({ level: 'error', message, process: place.process })
      }
    }
  }

  /** While a process cannot be started, the kernel must give its connections to the others. */
  function closeSocket(place: Place): void {
    if (!sharesPort || !places.some(({ running }) => running)) return
    place.socket?.close()
    place.socket = undefined
  }

  async function reopen(place: Place): Promise<void> {
    place.socket ??= (await openSockets(host, port, 1, true)).sockets[0]
  }

  async function replaceAt(place: Place, generation: Generation): Promise<void> {
    place.replaced += 1
    const old = place.running
    await reopen(place)
    const running = await start(place, generation)
    adopt(place, running, generation)
    if ((await old?.drain(graceMs)) !== false) return
    const message = `requests took longer than ${graceMs / 1000} s, and were cut off with the process that was replaced`
    onEvent({ level: 'warn', message, process: place.process, pid: old!.pid })
  }

  return {
    async start(generation) {
      for (let process = 0; process < count; process++) {
        const socket = sockets[sharesPort ? process : 0]
        places.push({ process, socket, running: undefined, generation, restarts: 0, early: 0, replaced: 0 })
      }
      await Promise.all(places.map(async (place) => adopt(place, await start(place, generation), generation)))
    },
    async replace(generation) {
      for (const place of places) await replaceAt(place, generation)
    },
    states: () =>
      places.map(({ process, running, restarts, generation }) => {
        return { process, pid: running?.pid ?? null, restarts, generation: generation.number }
      }),
    metrics: () => Promise.all(places.map(({ running }) => running?.metrics().catch(() => undefined))),
    async runScheduled(call) {
      const place = places.find(({ running }) => running)
      if (!place) throw new Error('no process runs')
      return place.running!.runScheduled(call)
    },
    async stop() {
      stopping.abort()
      let isClosed = false
      const close = () => {
        if (isClosed) return
        isClosed = true
        for (const socket of new Set([...sockets, ...places.flatMap(({ socket }) => socket ?? [])])) socket.close()
      }
      const results = await Promise.all(places.map(({ running }) => running?.drain(graceMs, close)))
      close()
      return results.every((isWhole) => isWhole !== false)
    },
    kill() {
      stopping.abort()
      for (const { running } of places) running?.kill()
    },
  }
}
