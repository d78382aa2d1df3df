/** Counts work in place of measuring its time: the count is the same on every machine. */

/**
 * Runs work whose arrays of bytes count what is read from them.
 *
 * @param most largest number of bytes that the work may read. One more ends it, so that a quadratic one does not run for minutes.
 * @returns the number of bytes that it has read.
 */
export function countReads(most: number, work: () => unknown): number {
  const Plain = globalThis.Uint8Array
  let reads = 0
  const handler: ProxyHandler<Uint8Array> = {
    get(array, name) {
      const value: unknown = Reflect.get(array, name, array)
      if (typeof value === 'function') return value.bind(array)
      if (name !== 'length' && ++reads > most) throw new Error(`the work reads more than ${most} bytes`)
      return value
    },
    set: (array, name, value) => Reflect.set(array, name, value, array),
  }
  class Counted extends Plain {
    static get [Symbol.species]() {
      return Plain
    }

    constructor(...given: [number]) {
      super(...given)
      // biome-ignore lint/correctness/noConstructorReturn: the proxy stands for the array
      return new Proxy<Uint8Array>(this, handler) as this
    }
  }
  globalThis.Uint8Array = Counted as never
  try {
    work()
  } finally {
    globalThis.Uint8Array = Plain
  }
  return reads
}
