/**
 * Hashes that another system made: argon2id and scrypt in PHC form, and bcrypt. They are of the password alone, without the pepper, and
 * the first sign-in replaces them. Their costs are bounded, because anyone who knows the address may have one computed.
 */
import { scrypt } from 'node:crypto'
import { type Argon2Cost, argon2id } from './argon2.ts'
import { decode, isSame } from './phc.ts'

/** KiB of memory that an imported argon2id may use: what the WebAssembly module has, so that the isolate need not grow. */
const mostMemory = 65_536
/** Passes of an imported argon2id. 10 passes over 64 MiB take about a second of processor time. */
const mostPasses = 10
/** Lanes of an imported argon2id. They run one after another here, and other systems use as many as a server has cores. */
const mostLanes = 16
/** The largest cost of bcrypt: 12 takes half a second of processor time, and each step more takes twice as long. */
const mostBcryptCost = 12
/** The largest N·r·p of scrypt: the Workers runtime computes no larger one. It takes 128 bytes of memory for each unit of N·r. */
const mostScryptWork = 2 ** 20
/** Bytes of a salt and of a hash. Fewer can be guessed, and more add no strength. */
const saltBytes = { least: 8, most: 64 }
const hashBytes = { least: 16, most: 64 }

type Imported =
  | { kind: 'argon2id'; cost: Argon2Cost; salt: Uint8Array; hash: Uint8Array }
  | { kind: 'scrypt'; N: number; r: number; p: number; salt: Uint8Array; hash: Uint8Array }
  | { kind: 'bcrypt'; text: string }

/** @returns what is wrong with a hash that is to be imported. `undefined` where passwords can be checked with it. */
export function importFault(text: string): string | undefined {
  const read = readImported(text)
  return typeof read === 'string' ? read : undefined
}

/** @param text a hash without an `importFault`. */
export async function isImportedPassword(password: string, text: string): Promise<boolean> {
  const read = readImported(text)
  if (typeof read === 'string') throw new Error(`an imported hash cannot be read: ${read}`)
  const bytes = new TextEncoder().encode(password)
  switch (read.kind) {
    case 'argon2id':
      // the library refuses an empty password
      return bytes.length > 0 && isSame(await argon2id(bytes, read.salt, read.cost, read.hash.length), read.hash)
    case 'scrypt':
      return isSame(await derive(bytes, read), read.hash)
    case 'bcrypt': {
      const { compare } = await import('bcryptjs')
      return compare(password, read.text)
    }
  }
}

/** @returns a sentence where the text is no hash that can be checked within the bounds. It repeats no part of the text. */
function readImported(text: string): Imported | string {
  const [, kind = ''] = /^\$([a-z0-9-]{1,20})\$/.exec(text) ?? []
  if (/^2[aby]$/.test(kind)) return readBcrypt(text)
  if (kind === 'argon2id') return readArgon2id(text)
  if (kind === 'scrypt') return readScrypt(text)
  return 'the hash is argon2id or scrypt in PHC form ($argon2id$…, $scrypt$…), or bcrypt ($2a$, $2b$, $2y$)'
}

function readBcrypt(text: string): Imported | string {
  const [, cost] = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(text) ?? []
  if (cost === undefined) return 'a bcrypt hash is like $2b$10$ and 53 characters'
  if (Number(cost) < 4 || Number(cost) > mostBcryptCost) return `the cost of a bcrypt hash is 04 to ${mostBcryptCost}`
  return { kind: 'bcrypt', text }
}

function readArgon2id(text: string): Imported | string {
  const form = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{1,200})\$([A-Za-z0-9+/]{1,200})$/
  const [, m, t, p, salt, hash] = form.exec(text) ?? []
  if (salt === undefined || hash === undefined)
    return 'an argon2id hash is like $argon2id$v=19$m=19456,t=2,p=1$salt$hash'
  const cost = { memorySize: Number(m), passes: Number(t), parallelism: Number(p) }
  const { memorySize, passes, parallelism } = cost
  if (passes < 1 || passes > mostPasses) return `an argon2id hash has 1 to ${mostPasses} passes (t)`
  if (parallelism < 1 || parallelism > mostLanes) return `an argon2id hash has 1 to ${mostLanes} lanes (p)`
  if (memorySize < 8 * parallelism || memorySize > mostMemory) {
    return `an argon2id hash uses at least 8 KiB for each lane, and at most ${mostMemory} KiB (m)`
  }
  return withBytes(salt, hash, (salt, hash) => ({ kind: 'argon2id', cost, salt, hash }))
}

function readScrypt(text: string): Imported | string {
  const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,7}),p=(\d{1,7})\$([A-Za-z0-9+/]{1,200})\$([A-Za-z0-9+/]{1,200})$/
  const [, ln, r, p, salt, hash] = form.exec(text) ?? []
  if (salt === undefined || hash === undefined) return 'a scrypt hash is like $scrypt$ln=14,r=8,p=1$salt$hash'
  const cost = { N: 2 ** Number(ln), r: Number(r), p: Number(p) }
  const work = cost.N * cost.r * cost.p
  if (cost.N < 2 || work < 2 || work > mostScryptWork) return `N·r·p of a scrypt hash is at most ${mostScryptWork}`
  return withBytes(salt, hash, (salt, hash) => ({ kind: 'scrypt', ...cost, salt, hash }))
}

function withBytes(
  salt: string,
  hash: string,
  make: (salt: Uint8Array, hash: Uint8Array) => Imported,
): Imported | string {
  if (salt.length % 4 === 1 || hash.length % 4 === 1) return 'the salt and the hash are base64 without padding'
  const bytes = { salt: decode(salt), hash: decode(hash) }
  const isWithin = (length: number, { least, most }: typeof saltBytes) => length >= least && length <= most
  if (!isWithin(bytes.salt.length, saltBytes)) return `the salt has ${saltBytes.least} to ${saltBytes.most} bytes`
  if (!isWithin(bytes.hash.length, hashBytes)) return `the hash has ${hashBytes.least} to ${hashBytes.most} bytes`
  return make(bytes.salt, bytes.hash)
}

function derive(password: Uint8Array, { N, r, p, salt, hash }: Imported & { kind: 'scrypt' }): Promise<Uint8Array> {
  /** Node counts 128 bytes for each unit of N·r and of r·p, and refuses to start where they exceed this number. */
  const maxmem = 128 * r * (N + p + 2) + 1024
  return new Promise((resolve, reject) => {
    scrypt(password, salt, hash.length, { N, r, p, maxmem }, (error, key) =>
      error ? reject(error) : resolve(new Uint8Array(key)),
    )
  })
}
