/** Keys to sign with. Of a scheme with a public key only the sender has the private half: for development a pair is made. */
import { generateKeyPairSync } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { writeWhole } from '../../build/emit/write.ts'
import type { Webhook } from '../../runtime/table.ts'
import type { PublicKeyProof } from '../../src/wire/webhook-schemes.ts'
import { Failure } from '../failure.ts'
import { devVars } from '../project.ts'
import { privateKeyOf, type SigningKey } from './sign.ts'

/** @returns the key, and whether the running stack has yet to take up its public half. @throws Failure when there is none. */
export function signingKey(root: string, { secret, scheme: { proof } }: Webhook): { key: SigningKey; isNew: boolean } {
  const value = devVars(root)[secret.env]
  if (proof.by !== 'ed25519' && proof.by !== 'ecdsa') {
    if (value) return { key: { secret: value }, isNew: false }
    throw new Failure('usage', `${secret.env} is not set: add a line ${secret.env}=… to .dev.vars`)
  }
  const file = path.join(root, '.stack/webhook-keys.json')
  const known = fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, string>) : {}
  if (value) {
    const pkcs8 = known[value]
    if (pkcs8 !== undefined) return { key: { privateKey: privateKeyOf(pkcs8) }, isNew: false }
    throw new Failure(
      'usage',
      `${secret.env} in .dev.vars is a public key, and only its sender can sign for it: remove that line, and a pair for development is made`,
    )
  }
  const pair = newPair(proof.by)
  writeWhole(file, `${JSON.stringify({ ...known, [pair.publicKey]: pair.pkcs8 }, undefined, 2)}\n`, 0o600)
  addLine(path.join(root, '.dev.vars'), `${secret.env}=${pair.publicKey}`)
  process.stderr.write(
    `  ${secret.env} was not set: a pair for development was made, its public half is in .dev.vars, the other in .stack/webhook-keys.json\n`,
  )
  return { key: { privateKey: privateKeyOf(pair.pkcs8) }, isNew: true }
}

/** The public half as the vault entry of such a scheme holds it. */
function newPair(by: PublicKeyProof['by']): { publicKey: string; pkcs8: string } {
  const pair = by === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = pair.publicKey.export({ type: 'spki', format: 'der' })
  return {
    publicKey: by === 'ed25519' ? spki.subarray(-32).toString('hex') : spki.toString('base64'),
    pkcs8: pair.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  }
}

function addLine(file: string, line: string): void {
  const before = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
  fs.appendFileSync(file, `${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n`, { mode: 0o600 })
}
