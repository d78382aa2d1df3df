/** The package brings no types: what the tests use of it. */
declare module 'starkbank-ecdsa' {
  interface Key {
    publicKey(): unknown
  }
  export const PrivateKey: { fromPem(sec1: string): Key }
  export const Ecdsa: { sign(message: Uint8Array, key: Key): { toBase64(): string } }
}
