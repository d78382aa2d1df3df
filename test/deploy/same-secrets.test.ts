/** The digests by which a machine learns whether it has the secrets that a database was served with (contract 9.15). */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { configOf } from '../../deploy/database.ts'
import { keepDigests, requireSameSecrets } from '../../deploy/serve/same-secrets.ts'
import { type MadeName, SecretFault, secretsAt } from '../../deploy/serve/secrets.ts'
import { createOwned, useExternalPostgres } from '../support/external-postgres.ts'

const external = useExternalPostgres()
const { values } = secretsAt('/nowhere', {})
const others = secretsAt('/nowhere', {}).values
let url: string
const config = () => configOf({ url })
const sql = <T>(text: string) => external.sql<T>(text, new URL(url).pathname.slice(1))

/** @returns the names that are refused. */
async function refused(given: Partial<Record<MadeName, string>>, previous?: string, replace = false) {
  try {
    await requireSameSecrets(config(), { values: { ...values, ...given }, previous, replace })
    return []
  } catch (error) {
    if (!(error instanceof SecretFault)) throw error
    return error.message.split(':')[0]!.split(' and ')
  }
}

beforeAll(async () => {
  url = await createOwned(external)
})
beforeEach(async () => {
  await sql('drop schema if exists stack cascade')
  await sql(`create schema stack authorization ${new URL(url).username}`)
})

describe('a database', () => {
  it('that was never served takes any secrets', async () => {
    expect(await refused(others)).toEqual([])
    await sql('drop schema stack')
    expect(await refused(others)).toEqual([])
  })

  it('that was served takes the same ones, and refuses each other one by its name', async () => {
    await keepDigests(config(), { values })
    expect(await refused({})).toEqual([])
    for (const name of ['SEALING_KEY', 'PASSWORD_PEPPER', 'REFRESH_KEY', 'AUTH_AUDIENCE'] as const) {
      expect([name, await refused({ [name]: others[name] })]).toEqual([name, [name]])
    }
    expect(await refused({ REFRESH_KEY: others.REFRESH_KEY, SEALING_KEY: others.SEALING_KEY })).toEqual([
      'REFRESH_KEY',
      'SEALING_KEY',
    ])
  })

  it('takes other keys of the callers, which are no part of its content', async () => {
    await keepDigests(config(), { values })
    const { SERVICE_ROLE_KEY, PUBLISHABLE_KEY } = others
    expect(await refused({ SERVICE_ROLE_KEY, PUBLISHABLE_KEY })).toEqual([])
  })

  it('takes every secret with --take-over, and asks for those from then on', async () => {
    await keepDigests(config(), { values })
    expect(await refused(others, undefined, true)).toEqual([])
    await keepDigests(config(), { values: others })
    expect(await refused(others)).toEqual([])
    expect(await refused({})).toHaveLength(4)
  })

  it('holds no secret in the clear', async () => {
    await keepDigests(config(), { values })
    const [{ text }] = (await sql<{ text: string }>(
      'select string_agg(served_secrets::text, chr(10)) as text from stack.served_secrets',
    )) as [{ text: string }]
    for (const name of ['SEALING_KEY', 'PASSWORD_PEPPER', 'REFRESH_KEY', 'AUTH_AUDIENCE'] as const) {
      expect(text).toContain(name)
      expect(text).not.toContain(values[name])
      expect(text).not.toContain(Buffer.from(values[name]).toString('hex'))
    }
  })
})

describe('a rotation of the sealing key', () => {
  const rotated = { SEALING_KEY: others.SEALING_KEY }

  it('has both keys on each machine, in either order', async () => {
    await keepDigests(config(), { values })
    expect(await refused({}, others.SEALING_KEY)).toEqual([]) // announced
    expect(await refused(rotated, values.SEALING_KEY)).toEqual([]) // seals with the new one
    expect(await refused(rotated)).toEqual(['SEALING_KEY'])
    expect(await refused(rotated, 'a third one')).toEqual(['SEALING_KEY'])
  })

  it('ends with the new key alone, and the old one is refused', async () => {
    await keepDigests(config(), { values })
    await keepDigests(config(), { values: { ...values, ...rotated } })
    expect(await refused(rotated)).toEqual([])
    expect(await refused({})).toEqual(['SEALING_KEY'])
    expect(await refused({}, others.SEALING_KEY)).toEqual([]) // a machine that is late has both
  })

  it('admits no other pepper', async () => {
    await keepDigests(config(), { values })
    expect(await refused({ PASSWORD_PEPPER: others.PASSWORD_PEPPER }, values.PASSWORD_PEPPER)).toEqual([
      'PASSWORD_PEPPER',
    ])
  })
})
