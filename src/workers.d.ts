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
