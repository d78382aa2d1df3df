/** Runs public test vectors (Wycheproof) through the code that verifies deliveries and tokens, in workerd. */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useBundledWorker } from '../../support/bundled-worker.ts'
import { packageRoot } from '../../support/command.ts'

interface Case {
  id: string
  kind: 'hmac-sha1' | 'hmac-sha256' | 'ed25519' | 'es256-der' | 'es256-p1363'
  comment: string
  valid: boolean
  msg: string
  sig?: string
  key?: string
  tag?: string
  tagBits?: number
  spki?: string
  raw?: string
}

const file = path.resolve(packageRoot, '../shared/vectors/primitives.json')
const isThere = fs.existsSync(file)
if (!isThere) process.stderr.write('the public vectors are not beside this repository: their tests are skipped\n')

/** Checks each case as a delivery is checked: the form of key and signature first, then the comparison. */
const worker = `
import { fromHex } from './runtime/bytes.ts'
import { verified } from './runtime/webhooks/claim.ts'
import { readHmac } from './runtime/webhooks/proofs/hmac.ts'
import { fromDer } from './runtime/webhooks/proofs/public-key.ts'
import { secretKey } from './runtime/webhooks/secret.ts'

const base64 = (hex) => btoa(String.fromCharCode(...fromHex(hex)))
const ecdsa = { name: 'ECDSA', hash: 'SHA-256' }

async function accepts({ kind, msg, sig, key, tag, spki, raw }) {
  const body = fromHex(msg)
  if (kind.startsWith('hmac')) {
    const hash = kind === 'hmac-sha1' ? 'SHA-1' : 'SHA-256'
    const proof = { by: 'hmac', hash, encoding: 'hex', signs: '{body}', header: 'x-tag', secret: 'whsec' }
    const claim = readHmac(proof, { headers: new Headers({ 'x-tag': tag }), urls: [], now: 0 })
    if ('reason' in claim) return false
    const imported = await secretKey(proof, base64(key))
    return typeof imported === 'string' ? imported : claim.holds(imported, body)
  }
  const imported = await (kind === 'ed25519' ? secretKey({ by: 'ed25519' }, raw) : secretKey({ by: 'ecdsa' }, base64(spki)))
  if (typeof imported === 'string') return imported
  const signature = kind === 'es256-der' ? fromDer(fromHex(sig)) : fromHex(sig)
  if (signature?.length !== 64) return false
  return verified(kind === 'ed25519' ? { name: 'Ed25519' } : ecdsa, imported, signature, body)
}

export default {
  async fetch(request) {
    const cases = await request.json()
    return Response.json(await Promise.all(cases.map(accepts)))
  },
}`

describe.skipIf(!isThere)('the public vectors', () => {
  const answersTo = useBundledWorker(worker)
  const cases: Case[] = isThere ? JSON.parse(fs.readFileSync(file, 'utf8')).cases : []

  it.each<[Case['kind'], number]>([
    ['hmac-sha1', 170],
    ['hmac-sha256', 174],
    ['ed25519', 151],
    ['es256-der', 484],
    ['es256-p1363', 262],
  ])('%s', async (kind, count) => {
    const own = cases.filter((one) => one.kind === kind)
    expect(own).toHaveLength(count)
    const answers = await answersTo<unknown[]>(own)
    const wholeBits = kind === 'hmac-sha1' ? 160 : 256
    // A truncated tag proves less than the scheme requires.
    const expected = own.map(({ valid, tagBits = wholeBits }) => valid && tagBits === wholeBits)
    const differing = own.flatMap((one, index) =>
      answers[index] === expected[index] ? [] : [`${one.id} (${one.comment}): ${answers[index]}`],
    )
    expect(differing).toEqual([])
    expect(expected.filter(Boolean).length).toBeGreaterThan(20)
  })
})
