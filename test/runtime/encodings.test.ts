/** Decoders are strict, and a body is read to its bound (contract 3.2, 7.3). */
import { describe, expect, it } from 'vitest'
import { fromBase64, fromBase64Url, fromHex, isSame, parseJson, readChunks, toHex } from '../../runtime/bytes.ts'

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString()

describe('hex', () => {
  it('has one spelling', () => {
    expect([...fromHex('00ff7a')!]).toEqual([0, 255, 122])
    expect(['0', 'FF', '0g', 'g0', '0 ', 'é0', '/0', ':0'].map(fromHex)).toEqual(Array(8).fill(undefined))
    expect(toHex(new Uint8Array([0, 9, 10, 159, 255]))).toBe('00090a9fff')
  })
})

describe.each([
  ['base64', fromBase64, 'Zg==', ['Zg', 'Zg=', 'Zh==', 'Zg==\n', 'Z===', '====', 'Zg==Zg==', '_-==', 'Zm9=']],
  ['base64url', fromBase64Url, 'Zg', ['Zg==', 'Zh', 'Z', 'Zg ', '+/', 'Zm9vY', 'Zm9']],
] as const)('%s', (_name, decode, one, others) => {
  it('has one spelling', () => {
    expect([text(decode('')), text(decode(one)), text(decode('Zm9v'))]).toEqual(['', 'f', 'foo'])
    expect(others.map((other) => [other, text(decode(other))])).toEqual(others.map((other) => [other, undefined]))
  })
})

describe('JSON', () => {
  it('is UTF-8, and nothing is repaired', () => {
    const parse = (bytes: number[] | string) => parseJson(Buffer.from(bytes as string))?.value
    expect(parse('{"a":"é"}')).toEqual({ a: 'é' })
    expect([parse([0x22, 0xff, 0x22]), parse('\ufeff{}'), parse('{'), parse('')]).toEqual(Array(4).fill(undefined))
  })
})

describe('equal bytes', () => {
  const same = (one: number[], other: number[]) => isSame(new Uint8Array(one), new Uint8Array(other))
  it('are equal in each place and in length', () => {
    expect([same([1, 2], [1, 2]), same([], [])]).toEqual([true, true])
    expect([same([1, 2], [1, 3]), same([3, 2], [1, 2]), same([1], [1, 0]), same([1, 0], [1])]).toEqual(
      Array(4).fill(false),
    )
  })
})

describe('a stream', () => {
  const streamOf = (chunks: string[], cancelled = () => {}) =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = chunks.shift()
        if (next === undefined) controller.close()
        else controller.enqueue(Buffer.from(next))
      },
      cancel: cancelled,
    })

  it('is read whole, in order', async () => {
    expect(text(await readChunks(streamOf(['ab', 'c']), () => {}))).toBe('abc')
    expect(text(await readChunks(null, () => {}))).toBe('')
  })

  it('is cancelled where it is too long, as soon as it is', async () => {
    let isCancelled = false
    const lengths: number[] = []
    const stream = streamOf(['ab', 'cd', 'ef', 'gh'], () => {
      isCancelled = true
    })
    const require = (length: number) => {
      lengths.push(length)
      if (length > 3) throw new Error('too long')
    }
    await expect(readChunks(stream, require)).rejects.toThrow('too long')
    expect([lengths, isCancelled]).toEqual([[2, 4], true])
  })

  it('is given up where the time is over', async () => {
    const endless = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) })
    await expect(readChunks(endless, () => {}, Promise.reject(new Error('late')))).rejects.toThrow('late')
  })
})
