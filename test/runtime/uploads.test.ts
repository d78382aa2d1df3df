/** The bodies in flight of one isolate: their memory, their time, and the queue of records (contract 2.11, 7.8). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Call } from '../../runtime/call.ts'
import { createShares } from '../../runtime/shares.ts'
import type { Webhook } from '../../runtime/table.ts'
import { createUploads } from '../../runtime/uploads.ts'
import type { Outcome } from '../../runtime/webhooks/delivery.ts'
import { createRecorder } from '../../runtime/webhooks/recorder.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Bytes in one MiB. */
const mebibyte = 1024 * 1024

describe('shares', () => {
  it('give as much as there is, and what is released is there again', () => {
    const shares = createShares(10, 1_000)
    const first = shares.acquire(6)!
    expect(shares.acquire(5)).toBeUndefined()
    const second = shares.acquire(4)!
    expect([second.resize(5), first.resize(5), second.resize(5)]).toEqual([false, true, true])
    first.release()
    first.release()
    expect(second.resize(11)).toBe(false)
    expect(shares.acquire(5)).toBeDefined()
  })

  it('one that is alone may exceed the limit where that is allowed, and then nobody else gets any', () => {
    const shares = createShares(10, 1_000, true)
    const large = shares.acquire(11)!
    expect([shares.acquire(1), shares.acquire(0), large.resize(100)]).toEqual([undefined, undefined, true])
    large.release()
    const [one, other] = [shares.acquire(5)!, shares.acquire(5)!]
    expect(one.resize(6)).toBe(false)
    other.release()
    expect(one.resize(60)).toBe(true)
  })

  it('one that nobody renews counts no longer, until it is renewed', () => {
    const shares = createShares(10, 1_000)
    const lost = shares.acquire(10)!
    vi.advanceTimersByTime(1_000)
    expect(shares.acquire(1)).toBeUndefined()
    vi.advanceTimersByTime(1)
    const other = shares.acquire(10)!
    expect([other !== undefined, shares.count()]).toEqual([true, 1])
    lost.renew()
    other.release()
    expect(shares.acquire(1)).toBeUndefined()
  })
})

describe('bodies in flight', () => {
  /** A body whose chunks the test sends. */
  function upload(headers: Record<string, string> = {}) {
    let controller!: ReadableStreamDefaultController<Uint8Array>
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      start(own) {
        controller = own
      },
      cancel() {
        isCancelled = true
      },
    })
    const request = new Request('https://hooks.example/', {
      method: 'POST',
      body,
      headers,
      duplex: 'half',
    } as RequestInit)
    return {
      request,
      send: (length: number) => controller.enqueue(new Uint8Array(length)),
      end: () => controller.close(),
      fail: () => controller.error(new Error('the client has gone')),
      isCancelled: () => isCancelled,
    }
  }
  /** Reads bodies as webhooks read them. */
  const deliveries = () => {
    const hold = createUploads()
    return (request: Request, most: number | undefined) => hold(request, { most, isPatient: true })
  }
  const stated = (length: number) => upload({ 'content-length': String(length) })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  /** @returns the state of the work after everything that can run now has run. */
  const settled = (work: Promise<unknown>) =>
    Promise.race([
      work.then(
        () => 'held',
        (error) => `${error.status ?? error.message}`,
      ),
      turn()
        .then(turn)
        .then(() => 'waiting'),
    ])
  /** @returns a function that gives the status once the work has failed. */
  function settledLater(work: Promise<unknown>) {
    let status: number | undefined
    work.catch((error) => {
      status = error.status
    })
    return async () => {
      await turn()
      return status
    }
  }
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
  })

  it('share 64 MiB: the one that is too much gets 503 with retry-after, and the one that is in time is read', async () => {
    const hold = deliveries()
    const first = stated(40 * mebibyte)
    const held = hold(first.request, undefined)
    first.send(40 * mebibyte)
    first.end()
    expect((await held).bytes.length).toBe(40 * mebibyte)
    const large = stated(24 * mebibyte + 1)
    const refused = hold(large.request, undefined)
    large.send(24 * mebibyte + 1)
    await expect(refused).rejects.toMatchObject({
      status: 503,
      code: 'unavailable',
      details: { headers: { 'retry-after': '1' } },
    })
    const fitting = stated(24 * mebibyte)
    const taken = hold(fitting.request, undefined)
    fitting.send(24 * mebibyte)
    fitting.end()
    expect((await taken).bytes.length).toBe(24 * mebibyte)
  })

  it('a stated length holds nothing: only what has arrived counts', async () => {
    const hold = deliveries()
    for (let count = 0; count < 100; count++) hold(stated(60 * mebibyte).request, undefined).catch(() => {})
    for (let count = 0; count < 1_000; count++) hold(stated(mebibyte).request, undefined).catch(() => {})
    const whole = stated(mebibyte)
    const held = hold(whole.request, undefined)
    whole.send(mebibyte)
    whole.end()
    expect((await held).bytes.length).toBe(mebibyte)
  })

  it('an upload that stalls for two seconds gives way, the oldest first, and not one that goes on arriving', async () => {
    const hold = deliveries()
    const steady = upload()
    const kept = hold(steady.request, undefined)
    const outcomes = Array.from({ length: 63 }, () => {
      const stalling = stated(2 * mebibyte)
      stalling.send(mebibyte)
      return settledLater(hold(stalling.request, undefined))
    })
    for (let second = 0; second < 2; second++) {
      steady.send(64 * 1024)
      await turn()
      vi.advanceTimersByTime(1_000)
    }
    const newcomer = upload()
    const taken = hold(newcomer.request, undefined)
    newcomer.send(mebibyte)
    newcomer.end()
    expect((await taken).bytes.length).toBe(mebibyte)
    const statuses = await Promise.all(outcomes.map((one) => one()))
    expect([statuses[0], statuses.filter((status) => status === 503).length]).toEqual([503, 1])
    steady.end()
    expect((await kept).bytes.length).toBe(2 * 64 * 1024)
  })

  it('one that stalls gives way before a larger one that goes on arriving', async () => {
    const hold = deliveries()
    const [large, stalling, newcomer] = [upload(), upload(), upload()]
    const kept = hold(large.request, undefined)
    const outcome = settledLater(hold(stalling.request, undefined))
    large.send(30 * mebibyte)
    stalling.send(20 * mebibyte)
    for (let second = 0; second < 3; second++) {
      await turn()
      vi.advanceTimersByTime(1_000)
      large.send(64 * 1024)
    }
    const taken = hold(newcomer.request, undefined)
    newcomer.send(15 * mebibyte)
    newcomer.end()
    expect((await taken).bytes.length).toBe(15 * mebibyte)
    expect([await outcome(), large.isCancelled()]).toEqual([503, false])
    large.end()
    expect((await kept).bytes.length).toBe(30 * mebibyte + 3 * 64 * 1024)
  })

  it('a fast upload that is larger than all others gives way itself', async () => {
    const hold = deliveries()
    const [first, second] = [upload(), upload()]
    const [one, other] = [hold(first.request, undefined), hold(second.request, undefined)]
    first.send(24 * mebibyte)
    expect(await settled(one)).toBe('waiting')
    second.send(40 * mebibyte + 1)
    expect([await settled(other), await settled(one), first.isCancelled()]).toEqual(['503', 'waiting', false])
  })

  it('a fast upload that takes what there is gives way too: the largest, to a smaller one', async () => {
    const hold = deliveries()
    const greedy = upload()
    const greedyEnd = settledLater(hold(greedy.request, undefined))
    greedy.send(65 * mebibyte)
    await turn()
    vi.advanceTimersByTime(1_000)
    greedy.send(mebibyte)
    await turn()
    const small = stated(100)
    const held = hold(small.request, undefined)
    small.send(100)
    small.end()
    expect((await held).bytes.length).toBe(100)
    expect(await greedyEnd()).toBe(503)
  })

  it('what comes without a length counts as it grows, and the larger of two gives way', async () => {
    const hold = deliveries()
    const [first, second] = [upload(), upload()]
    const [one, other] = [hold(first.request, undefined), hold(second.request, undefined)]
    first.send(40 * mebibyte)
    expect(await settled(one)).toBe('waiting')
    second.send(24 * mebibyte)
    expect(await settled(other)).toBe('waiting')
    second.send(1)
    expect([await settled(one), await settled(other), first.isCancelled()]).toEqual(['503', 'waiting', true])
    second.send(46 * mebibyte) // It is alone now.
    second.end()
    expect((await other).bytes.length).toBe(70 * mebibyte + 1)
  })

  it('one alone may exceed it, and all others wait for its end', async () => {
    const hold = deliveries()
    const large = stated(65 * mebibyte)
    const held = hold(large.request, undefined)
    large.send(65 * mebibyte)
    large.end()
    const { release } = await held
    expect(await settled(hold(stated(1).request, undefined))).toBe('503')
    release()
    expect(await settled(hold(stated(1).request, undefined))).toBe('waiting')
  })

  it('a body that has arrived counts until its delivery has ended, or the runtime has ended its request', async () => {
    const hold = deliveries()
    const first = stated(64 * mebibyte)
    const held = hold(first.request, undefined)
    first.send(64 * mebibyte)
    first.end()
    await held
    const ask = async () => {
      const small = stated(1)
      const asked = hold(small.request, undefined)
      small.send(1)
      small.end()
      return settled(asked)
    }
    expect(await ask()).toBe('503')
    vi.setSystemTime(Date.now() + 6_000) // No heartbeat comes meanwhile.
    expect(await ask()).toBe('held')
  })

  it.each([100, 2 * mebibyte, undefined])(
    'a body of %s bytes that does not come within 30 s is 408',
    async (length) => {
      const hold = deliveries()
      const slow = length === undefined ? upload() : stated(length)
      const held = hold(slow.request, undefined)
      held.catch(() => {})
      slow.send(50)
      vi.advanceTimersByTime(29_000)
      expect(await settled(held)).toBe('waiting')
      vi.advanceTimersByTime(2_000)
      await expect(held).rejects.toMatchObject({ status: 408, code: 'request_timeout' })
    },
  )

  it('a large one that goes on arriving is given the time that 64 KiB a second take, and one that trickles is not', async () => {
    const hold = deliveries()
    const [steady, trickling] = [upload(), upload()]
    const [held, lost] = [hold(steady.request, undefined), hold(trickling.request, undefined)]
    lost.catch(() => {})
    for (let second = 0; second < 60; second++) {
      steady.send(64 * 1024)
      if (second < 30) trickling.send(1)
      await turn()
      vi.advanceTimersByTime(1_000)
    }
    await expect(lost).rejects.toMatchObject({ status: 408 })
    steady.end()
    expect((await held).bytes.length).toBe(60 * 64 * 1024)
  })

  it('a body of a route has 30 s, however fast it arrives', async () => {
    const { request, send } = upload()
    const status = settledLater(createUploads()(request, {}))
    for (let second = 0; second < 30; second++) {
      send(128 * 1024)
      await turn()
      expect(await status()).toBe(undefined)
      vi.advanceTimersByTime(1_000)
    }
    expect(await status()).toBe(408)
  })

  it('a longer one than maxBodyBytes is 413, whether it says so or not; one of that length is taken', async () => {
    const hold = deliveries()
    expect(await settled(hold(stated(11).request, 10))).toBe('413')
    const [fitting, long] = [upload(), upload()]
    const [held, lost] = [hold(fitting.request, 10), hold(long.request, 10)]
    for (const one of [fitting, long]) one.send(10)
    fitting.end()
    long.send(1)
    expect((await held).bytes.length).toBe(10)
    expect(await settled(lost)).toBe('413')
    expect(await settled(hold(new Request('https://hooks.example/', { method: 'POST' }), 10))).toBe('held')
  })
})

describe('records', () => {
  const webhook = { name: 'shop', record: { days: 30 } } as Webhook

  /** A database that answers when the test wants. */
  function recorder() {
    const lines: [string, Record<string, unknown> | undefined][] = []
    const running: (() => void)[] = []
    let most = 0
    let written = 0
    const call = {
      log: (_level: string, message: string, fields?: Record<string, unknown>) => lines.push([message, fields]),
    } as unknown as Call
    const record = createRecorder(
      async (_call, _isReadOnly, work) => {
        const { promise, resolve } = Promise.withResolvers<void>()
        running.push(resolve)
        most = Math.max(most, running.length)
        await promise
        running.splice(running.indexOf(resolve), 1)
        return work({ service: {} } as never)
      },
      async () => {
        written++
      },
    )
    const drain = async () => {
      while (running.length > 0) {
        for (const finish of [...running]) finish()
        await vi.advanceTimersByTimeAsync(50)
      }
    }
    return {
      record: (outcome: Outcome['outcome']) => record(call, webhook, { outcome }, 401, Date.now()),
      drain,
      lines,
      most: () => most,
      written: () => written,
    }
  }

  it('a flood of refused deliveries takes one connection, and what is too much is dropped and counted in one line', async () => {
    const { record, drain, lines, most, written } = recorder()
    const all = Array.from({ length: 1_000 }, () => record('refused'))
    await vi.advanceTimersByTimeAsync(0)
    await drain()
    await Promise.all(all)
    expect([most(), written()]).toEqual([1, 201])
    expect(lines).toEqual([
      [
        'webhook shop: 799 deliveries were not recorded, because too many waited to be',
        { webhook: 'shop', dropped: 799 },
      ],
    ])
  })

  it('genuine ones do not wait behind refused ones, and take four connections', async () => {
    const { record, drain, most, written } = recorder()
    const all = [
      ...Array.from({ length: 50 }, () => record('refused')),
      ...Array.from({ length: 50 }, () => record('handled')),
    ]
    await vi.advanceTimersByTimeAsync(0)
    expect(most()).toBe(5)
    await drain()
    await Promise.all(all)
    expect([most(), written()]).toEqual([5, 100])
  })
})
