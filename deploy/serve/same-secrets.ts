/**
 * Whether the secrets of this machine are those that the database was served with. Another pepper would refuse every password, and another
 * sealing key would open no stored secret, long after the start. So the owner keeps a digest of each.
 */
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import type pg from 'pg'
import { withOwner } from '../database.ts'
import { type MadeName, SecretFault } from './secrets.ts'

/**
 * Values that all machines must have alike: the database's content depends on the first three, and a token of one machine has the audience
 * that the others ask for. The keys of the logins and the claims are compared with the database itself.
 */
const compared = ['SEALING_KEY', 'PASSWORD_PEPPER', 'REFRESH_KEY', 'AUTH_AUDIENCE'] as const

/** Only `stack serve` uses the table, so that the owner makes it here and not in a migration. */
const table = `create table if not exists stack.served_secrets (
  name text primary key,
  salt bytea not null,
  digest bytea not null
)`

export interface SameSecrets {
  values: Record<MadeName, string>
  /** The sealing key before this one, during a rotation (contract 9.15). */
  previous: string | undefined
  /** Keeps the secrets of this machine in place of the others. */
  replace: boolean
}

/** @param config of the owner. @throws SecretFault that names the secrets which differ. */
export async function requireSameSecrets(config: pg.ClientConfig, secrets: SameSecrets): Promise<void> {
  if (secrets.replace) return
  const kept = await withOwner(config, async (client) => {
    const { rows } = await client.query<{ exists: boolean }>(
      `select to_regclass('stack.served_secrets') is not null as exists`,
    )
    return rows[0]!.exists ? readDigests(client) : []
  })
  const differing = kept.filter((one) => !fits(one, secrets)).map(({ name }) => name)
  if (differing.length === 0) return
  throw new SecretFault(
    `${differing.join(' and ')}: this database was served with another one, which its passwords, sessions, tokens or sealed values need. Give that one back, or pass --take-over to go on without them`,
  )
}

/** Keeps the digests of this machine's secrets. @param config of the owner, after the migrations. */
export async function keepDigests(config: pg.ClientConfig, { values }: Pick<SameSecrets, 'values'>): Promise<void> {
  await withOwner(config, async (client) => {
    await client.query(table)
    const kept = await readDigests(client)
    for (const name of compared) {
      const before = kept.find((one) => one.name === name)
      if (before && isDigestOf(before, values[name])) continue
      const salt = randomBytes(16)
      await client.query(
        `insert into stack.served_secrets (name, salt, digest) values ($1, $2, $3)
         on conflict (name) do update set salt = $2, digest = $3`,
        [name, salt, digestOf(values[name], salt)],
      )
    }
  })
}

async function readDigests(client: pg.Client): Promise<Digest[]> {
  return (await client.query<Digest>('select name, salt, digest from stack.served_secrets order by name')).rows
}

interface Digest {
  name: (typeof compared)[number]
  salt: Buffer
  digest: Buffer
}

/** During a rotation of the sealing key each machine has both keys, in either order. */
function fits(kept: Digest, { values, previous }: SameSecrets): boolean {
  const isRotating = kept.name === 'SEALING_KEY' && previous !== undefined
  return isDigestOf(kept, values[kept.name]) || (isRotating && isDigestOf(kept, previous))
}

function isDigestOf({ salt, digest }: Digest, secret: string): boolean {
  return timingSafeEqual(digestOf(secret, salt), digest)
}

/** A sealing key may be a text that a person has thought of: guessing it from a dump must be slow. */
function digestOf(secret: string, salt: Buffer): Buffer {
  return scryptSync(secret, salt, 32)
}
