/** Hashes once in each request, with the package and the parameters of the auth module, and does nothing else. */
import noSimd from 'argon2id/dist/no-simd.wasm'
import simd from 'argon2id/dist/simd.wasm'
import setup from 'argon2id/lib/setup.js'

interface Env {
  /** JSON of memory in KiB, passes and lanes. */
  COST: string
}

const compute = setup(
  async (imports) => ({ instance: new WebAssembly.Instance(simd, imports), module: simd }),
  async (imports) => ({ instance: new WebAssembly.Instance(noSimd, imports), module: noSimd }),
)

export default {
  async fetch(_request: Request, { COST }: Env): Promise<Response> {
    const password = crypto.getRandomValues(new Uint8Array(32))
    const salt = crypto.getRandomValues(new Uint8Array(16))
    const hash = (await compute)({ ...JSON.parse(COST), password, salt, tagLength: 32 })
    return new Response(String(hash.length))
  },
}
