/** Types of the part that the tests use: the package brings none. */
declare module 'starkbank-ecdsa' {
  interface Key {
    publicKey(): unknown
  }
  export const PrivateKey: { fromPem(sec1: string): Key }
  export const Ecdsa: { sign(message: Uint8Array, key: Key): { toBase64(): string } }
}
