/** The few names of the Workers runtime that its type package leaves to Node's: `"types": []` keeps all others out. */
declare module 'node:async_hooks' {
  export class AsyncLocalStorage<T> {
    run<R>(store: T, callback: () => R): R
    getStore(): T | undefined
  }
}

declare module '*.wasm' {
  const module: WebAssembly.Module
  export default module
}

declare module 'node:crypto' {
  export function scrypt(
    password: Uint8Array,
    salt: Uint8Array,
    keyLength: number,
    options: { N: number; r: number; p: number; maxmem: number },
    callback: (error: Error | null, key: Uint8Array) => void,
  ): void
}
