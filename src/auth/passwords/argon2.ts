/** argon2id (RFC 9106) of bytes, in WebAssembly. */
import noSimd from 'argon2id/dist/no-simd.wasm'
import simd from 'argon2id/dist/simd.wasm'
import setup, { type computeHash } from 'argon2id/lib/setup.js'

export interface Argon2Cost {
  /** KiB. */
  memorySize: number
  passes: number
  /** Lanes. */
  parallelism: number
}

/** One for each isolate, because an instance holds 65 MiB. A hash runs without a pause, so requests may share the instance. */
let hasher: Promise<computeHash> | undefined

/** @param tagLength bytes of the hash. */
export async function argon2id(
  password: Uint8Array,
  salt: Uint8Array,
  cost: Argon2Cost,
  tagLength: number,
): Promise<Uint8Array> {
  hasher ??= setup(
    async (imports) => ({ instance: new WebAssembly.Instance(simd, imports), module: simd }),
    async (imports) => ({ instance: new WebAssembly.Instance(noSimd, imports), module: noSimd }),
  ).catch((error: unknown) => {
    hasher = undefined // short of memory now, perhaps not next time
    throw error
  })
  const compute = await hasher
  return compute({ ...cost, password, salt, tagLength })
}
