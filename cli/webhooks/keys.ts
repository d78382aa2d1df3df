/**
 * Finds the key to sign a delivery with, where the running stack reads its secrets (contract 1.6, 9.9). In a scheme with a
 * public key only the sender has the private half. A pair for development is made then, but replaces no key that is set.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { writeWhole } from '../../build/emit/write.ts'
import type { LocalRecord } from '../../local/record.ts'
import { type SecretSource, secretSource } from '../../local/vault.ts'
import type { Webhook } from '../../runtime/table.ts'
import type { Proof, PublicKeyProof } from '../../src/wire/webhook-schemes.ts'
import { Failure } from '../shared/failure.ts'
import { devVars } from '../shared/project.ts'
import { vaultNames } from './mounted.ts'
import { privateKeyOf, type SigningKey } from './sign.ts'

export interface Signer {
  key: SigningKey
  /** The pair was made now, so that the running stack does not serve its public half yet. */
  isNew: boolean
}

/**
 * @param variable the environment variable with the secret or the private key (`--secret-env`). The default is the entry of
 * `.dev.vars`.
 * @throws Failure that says where the secret is and how to go on. An existing entry is never replaced.
 */
export async function findSigner(
  root: string,
  record: LocalRecord,
  webhook: Webhook,
  variable: string | undefined,
): Promise<Signer> {
  const { secret, scheme } = webhook
  const { proof } = scheme
  if (variable !== undefined) return { key: givenKey(proof, variable), isNew: false }
  const variables = devVars(root)
  const inVault = await vaultNames(record)
  const source = secretSource(secret.env, variables, inVault)
  const isPublic = isByPublicKey(proof)
  const pairs = isPublic ? readPairs(root) : {}
  const keyIn = (name: string | undefined): SigningKey | undefined => {
    const value = name === undefined ? undefined : variables[name]
    if (!value) return undefined
    if (!isPublic) return { secret: value }
    return pairs[value] === undefined ? undefined : { privateKey: privateKeyOf(pairs[value]) }
  }
  const current = keyIn(secret.env)
  if (current) return { key: current, isNew: false }
  // While the current entry is unset, the stack refuses every delivery, also one that the previous secret signed.
  const previous = source === undefined ? undefined : keyIn(secret.previous)
  if (previous) {
    process.stderr.write(
      `  signed with the previous secret, ${secret.previous} of .dev.vars: ${secret.env} cannot be read\n`,
    )
    return { key: previous, isNew: false }
  }
  if (source === undefined && inVault.includes(secret.env)) {
    throw new Failure('usage', `${secret.env} is empty in .dev.vars, which hides the vault's entry: remove that line`)
  }
  if (source !== undefined) throw new Failure('usage', unreadable(secret.env, source, isPublic, inVault))
  if (!isByPublicKey(proof)) {
    throw new Failure('usage', `${secret.env} is not set: add a line ${secret.env}=… to .dev.vars`)
  }
  return { key: { privateKey: mintPair(root, secret.env, proof.by) }, isNew: true }
}

/** Why an entry that is set cannot sign, and how to go on. */
function unreadable(name: string, source: SecretSource, isPublic: boolean, inVault: readonly string[]): string {
  const pass = `pass ${isPublic ? 'its private key' : 'it'} with --secret-env <VARIABLE>`
  if (source === 'vault') {
    const other = isPublic
      ? `; after \`stack secret unset ${name}\` a pair for development is made`
      : `, or add a line ${name}=… to .dev.vars, which wins over the vault`
    return `${name} is in the vault of the local stack, and no value leaves the vault: ${pass}${other}`
  }
  const removed = inVault.includes(name) ? 'the entry of the vault counts again' : 'a pair for development is made'
  return `${name} in .dev.vars is a public key, and only its sender can sign for it: ${pass}, or remove that line, and ${removed}`
}

/** The key from `--secret-env`. Only the running stack can tell whether it is the right one. */
function givenKey(proof: Proof, variable: string): SigningKey {
  // The name of the variable is not printed, because the person may have typed the secret itself.
  const value = process.env[variable]
  if (!value) throw new Failure('usage', '--secret-env names an environment variable, and none of that name is set')
  if (!isByPublicKey(proof)) return { secret: value }
  const wanted = proof.by === 'ed25519' ? 'ed25519' : 'ec'
  const name = proof.by === 'ed25519' ? 'Ed25519' : 'P-256'
  let key: KeyObject | undefined
  try {
    key = privateKeyOf(value)
  } catch {}
  const isWanted =
    key?.asymmetricKeyType === wanted && (wanted === 'ed25519' || key.asymmetricKeyDetails?.namedCurve === 'prime256v1')
  if (key && isWanted) return { privateKey: key }
  throw new Failure('usage', `--secret-env: the variable holds no ${name} private key (PKCS #8, as PEM or base64)`)
}

function isByPublicKey(proof: Proof): proof is PublicKeyProof {
  return proof.by === 'ed25519' || proof.by === 'ecdsa'
}

const pairsFile = '.stack/webhook-keys.json'

/** @returns the private keys (PKCS #8, base64) of the pairs that were made here, by their public halves. */
function readPairs(root: string): Record<string, string> {
  const file = path.join(root, pairsFile)
  return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, string>) : {}
}

function mintPair(root: string, name: string, by: PublicKeyProof['by']): KeyObject {
  const pair = newPair(by)
  const pairs = { ...readPairs(root), [pair.publicKey]: pair.pkcs8 }
  writeWhole(path.join(root, pairsFile), `${JSON.stringify(pairs, undefined, 2)}\n`, 0o600)
  addLine(path.join(root, '.dev.vars'), `${name}=${pair.publicKey}`)
  process.stderr.write(
    `  ${name} was not set: a pair for development was made, its public half is in .dev.vars, the other in ${pairsFile}\n`,
  )
  return privateKeyOf(pair.pkcs8)
}

/** Makes a pair. The public half is in the encoding of the scheme's entry in the vault. */
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
