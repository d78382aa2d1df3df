/** Sends requests at a steady rate while something else happens, and keeps every answer that is not the expected one. */
import type { Answer } from './stack.ts'

export interface Load {
  /** Number of requests of each kind that were answered so far. */
  answered: Record<string, number>
  /** Answers that were not expected, and errors. */
  failures: string[]
  /** Waits until each kind was answered so many times more. */
  more(count: number): Promise<void>
  /** Begins no other request, and waits for those under way. */
  stop(): Promise<void>
}

/** Requests under way at the same time. A machine that is slower than the rate gets fewer requests, and not a queue of them. */
const mostAtOnce = 24

/**
 * @param kinds sends one request of a kind. @param expected the status of each answer of a kind.
 * @param perSecond requests of all kinds together.
 */
export function startLoad(kinds: Record<string, { status: number; send(): Promise<Answer> }>, perSecond: number): Load {
  const names = Object.keys(kinds)
  const answered: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]))
  const failures: string[] = []
  const running = new Set<Promise<void>>()
  let next = 0

  async function one(name: string): Promise<void> {
    const { status, send } = kinds[name]!
    try {
      const answer = await send()
      if (answer.status !== status) failures.push(`${name}: ${answer.status} ${answer.text}`)
    } catch (error) {
      failures.push(`${name}: ${String(error)} ${String((error as Error).cause ?? '')}`)
    }
    answered[name]!++
  }

  const timer = setInterval(() => {
    if (running.size >= mostAtOnce) return
    const sent = one(names[next++ % names.length]!)
    running.add(sent)
    sent.finally(() => running.delete(sent))
  }, 1_000 / perSecond)

  return {
    answered,
    failures,
    async more(count) {
      const wanted = names.map((name) => [name, answered[name]! + count] as const)
      while (wanted.some(([name, least]) => answered[name]! < least)) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(running)
    },
  }
}
