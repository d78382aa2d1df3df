/**
 * Connections that outlive a request (contract 5.4). Who takes one has it alone until it is given back; then whatever the
 * transaction has left in its session is discarded, while nobody waits for it.
 */
import type { Flown, Link } from './driver.ts'
import type { Statement } from './flight.ts'
import { openMs, Unavailable, within } from './unavailable.ts'

/** How long a connection may take to become as new, before it is closed. */
const returnMs = 1_000

export interface PoolOptions {
  /** Opens a connection whose first flight these are. */
  open(statements: readonly Statement[]): Promise<Flown & { link: Link }>
  /** Most connections at a time. */
  size: number
  /** How long a request waits for one, in milliseconds. */
  waitMs: number
  /** How long one lies idle before it is closed. */
  idleMs: number
  /** How old one may become: what changes outside (an address, a password) is followed. */
  oldestMs: number
}

export interface Pool {
  /** @throws Unavailable when none is free in time, or none can be made; or what Postgres says of the statements. */
  take(statements: readonly Statement[]): Promise<Flown & { link: Link }>
  /** In whatever state: an open transaction is ended, a broken connection replaced. @returns why it was closed, if it was. */
  give(link: Link, command: 'commit' | 'rollback'): Promise<unknown>
}

export function createPool({ open, size, waitMs, idleMs, oldestMs }: PoolOptions): Pool {
  /** The one used last is used next, so that the others may be closed. */
  const idle: { link: Link; since: number }[] = []
  /** Each is given a connection, or nothing where there is room for a new one. */
  const waiting: ((link: Link | undefined) => void)[] = []
  const born = new WeakMap<Link, number>()
  let count = 0
  let isSweeping = false

  /** @returns nothing where there is room for a new one, which the caller then owns. */
  async function next(): Promise<Link | undefined> {
    const last = idle.pop()
    if (last) return last.link
    if (count < size) {
      count++
      return undefined
    }
    const { promise, resolve, reject } = Promise.withResolvers<Link | undefined>()
    waiting.push(resolve)
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(resolve), 1)
      reject(new Unavailable(`all ${size} connections were in use for ${waitMs} ms`))
    }, waitMs)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  /** Hands on a connection, or the room of one that is no more. */
  function pass(link: Link | undefined): void {
    const serve = waiting.shift()
    if (serve) serve(link)
    else if (!link) count--
    else {
      idle.push({ link, since: Date.now() })
      if (!isSweeping) setTimeout(sweep, idleMs)
      isSweeping = true
    }
  }

  function sweep(): void {
    const now = Date.now()
    while (idle[0] && (idle[0].link.isBroken || idle[0].since + idleMs <= now)) {
      idle.shift()!.link.close()
      count--
    }
    isSweeping = idle[0] !== undefined
    if (idle[0]) setTimeout(sweep, Math.max(idle[0].since + idleMs - now, 1))
  }

  async function openNew(statements: readonly Statement[]): Promise<Flown & { link: Link }> {
    try {
      const opened = await open(statements)
      born.set(opened.link, Date.now())
      return opened
    } catch (error) {
      pass(undefined)
      throw error
    }
  }

  async function give(link: Link, command: 'commit' | 'rollback'): Promise<unknown> {
    let failure: unknown
    try {
      // behind a statement that may still run for somebody who has left: others wait for its connection
      await within(link.renew(command), returnMs)
      if (Date.now() < born.get(link)! + oldestMs) {
        pass(link)
        return undefined
      }
    } catch (error) {
      failure = error // what is left in it is unknown
    }
    link.close()
    pass(undefined)
    return failure
  }

  return {
    give,
    async take(statements) {
      const link = await next()
      if (!link) return openNew(statements)
      const taken = Date.now()
      try {
        return { link, ...(await within(link.fly(statements), openMs)) }
      } catch (error) {
        if (!(error instanceof Unavailable)) {
          give(link, 'rollback') // Postgres has refused the statements: the connection is sound
          throw error
        }
        link.close()
        if (Date.now() < taken + openMs) return openNew(statements) // it broke as it lay idle: nothing of this was kept
        pass(undefined)
        throw error
      }
    },
  }
}
