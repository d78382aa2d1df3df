/** The workerd processes of a served stack: one for each socket, restarted when they die, replaced one after the other at a reload. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessMetrics, ScheduledCall } from '../workers/control-protocol.ts'
import { drainAll } from './drain.ts'
import { type ListeningSocket, openSockets, sharesPort, turnAway } from './sockets.ts'
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

/** The places of a fleet, and what keeps a process in each of them. */
interface Keeper {
  places: Place[]
  /** @throws Error when the process does not start. */
  start(place: Place, generation: Generation): Promise<void>
  /** Starts another process in a place, then ends the one before. @throws as `start` does. The process before serves on. */
  replace(place: Place, generation: Generation): Promise<void>
  /** No process is started any more. */
  end(): void
}

function createKeeper({ host, port, graceMs, onLine, onEvent }: FleetOptions): Keeper {
  const places: Place[] = []
  const ending = new AbortController()

  function spawned({ process, socket }: Place, { configOf, environment }: Generation): Promise<Workerd> {
    return startWorkerd({ ...configOf(process), environment, socket, onLine: (line) => onLine(line, process) })
  }

  function adopt(place: Place, running: Workerd, generation: Generation): void {
    Object.assign(place, { running, generation })
    const began = Date.now()
    running.ended.then(async (sentence) => {
      if (place.running !== running || ending.signal.aborted) return // it was replaced, or is ended
      place.running = undefined
      place.early = Date.now() - began < wellMs ? place.early + 1 : 0
      onEvent({ level: 'error', message: `${sentence} by itself`, process: place.process, pid: running.pid })
      await restart(place)
    })
  }

  /** The first restart comes at once, on the same socket, so that waiting connections are served. */
  async function restart(place: Place): Promise<void> {
    const { replaced } = place
    const isOvertaken = () => ending.signal.aborted || place.replaced !== replaced
    while (!isOvertaken()) {
      const waitMs = place.early === 0 ? 0 : Math.min(backOff.first * 2 ** (place.early - 1), backOff.longest)
      if (waitMs >= goneMs) closeSocket(place)
      await sleep(waitMs, undefined, { signal: ending.signal }).catch(() => {})
      if (isOvertaken()) return
      place.restarts += 1
      try {
        await reopen(place)
        const running = await spawned(place, place.generation)
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

  return {
    places,
    async start(place, generation) {
      const running = await spawned(place, generation)
      if (ending.signal.aborted) running.kill()
      adopt(place, running, generation)
    },
    async replace(place, generation) {
      place.replaced += 1
      const old = place.running
      await reopen(place)
      adopt(place, await spawned(place, generation), generation)
      if (!old || (await drainAll([old], graceMs))) return
      const message = `requests took longer than ${graceMs / 1000} s, and were cut off with the process that was replaced`
      onEvent({ level: 'warn', message, process: place.process, pid: old.pid })
    },
    end: () => ending.abort(),
  }
}

export function createFleet(options: FleetOptions): Fleet {
  const { sockets, count, graceMs } = options
  const { places, start, replace, end } = createKeeper(options)
  const allSockets = () => [...new Set([...sockets, ...places.flatMap(({ socket }) => socket ?? [])])]
  const running = () => places.flatMap((place) => place.running ?? [])
  return {
    async start(generation) {
      for (let process = 0; process < count; process++) {
        const socket = sockets[sharesPort ? process : 0]
        places.push({ process, socket, running: undefined, generation, restarts: 0, early: 0, replaced: 0 })
      }
      await Promise.all(places.map((place) => start(place, generation)))
    },
    async replace(generation) {
      for (const place of places) await replace(place, generation)
    },
    states: () =>
      places.map(({ process, running, restarts, generation }) => {
        return { process, pid: running?.pid ?? null, restarts, generation: generation.number }
      }),
    metrics: () => Promise.all(places.map(({ running }) => running?.metrics().catch(() => undefined))),
    async runScheduled(call) {
      const [first] = running()
      if (!first) throw new Error('no process runs')
      return first.runScheduled(call)
    },
    async stop() {
      end()
      let close = async () => {}
      const isWhole = await drainAll(running(), graceMs, () => {
        close = turnAway(allSockets())
      })
      await close()
      return isWhole
    },
    kill() {
      end()
      for (const one of running()) one.kill()
    },
  }
}
