/**
 * Keys of a stack (contract 9.15): which ones verify, which ones administer, and what a rotation leaves alone. Classes of the auth module
 * run in Node against a real Postgres.
 */
import { beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))

import { Audit } from '../../src/auth/audit/rows.ts'
import { KeySetController } from '../../src/auth/keys/routes.ts'
import { SigningKeys } from '../../src/auth/keys/rows.ts'
import { ServiceRoleKeys } from '../../src/auth/keys/service-role.ts'
import { Resealing } from '../../src/auth/sealing/rows.ts'
import { open, seal } from '../../src/auth/shared/seal.ts'
import { placeOf } from '../../src/auth/vault/mirror.ts'
import { sealingKeyId } from '../../src/wire/sealing.ts'
import { useAuthModule } from '../support/auth-module.ts'

const auth = useAuthModule()
const { request, sql } = auth

describe('9.15 the key set', () => {
  const keys = new SigningKeys()
  const published = async () => (await request(() => keys.published())).map(({ kid }) => kid)

  beforeEach(async () => {
    await sql('delete from auth.signing_keys')
    await request(() => keys.active())
    await sql(`delete from auth.signing_keys where activate_at is null`)
    await sql(
      `update auth.signing_keys set kid = 'former', public_jwk = '{"kid":"former"}', activate_at = now() - interval '1 day'`,
    )
  })

  it('has a former key for as long as its last token lives and caches keep the set: 25 minutes', async () => {
    await sql(`insert into auth.signing_keys (kid, public_jwk, sealed_private, activate_at)
      select 'present', '{"kid":"present"}', sealed_private, now() - interval '1490 seconds' from auth.signing_keys`)
    expect(new Set(await published())).toEqual(new Set(['former', 'present']))
    await sql(`update auth.signing_keys set activate_at = now() - interval '1501 seconds' where kid = 'present'`)
    expect(await published()).toEqual(['present'])
  })

  it('is kept by caches for five minutes', async () => {
    const answer = await request(() => new KeySetController(keys).keySet())
    expect(new Headers(answer.headers).get('cache-control')).toBe('public, max-age=300')
  })
})

describe('9.15 a service-role key', () => {
  it('is accepted while its row is, and one that was minted elsewhere is not', async () => {
    const keys = new ServiceRoleKeys()
    const { key } = await request(() => keys.rotate(0))
    const next = await request(() => keys.rotate(3_600))
    const accepted = (one: string) => request(() => keys.accepts(one))
    expect([await accepted(key), await accepted(next.key)]).toEqual([true, true])
    await sql(`update auth.service_role_keys set accepted_until = now() where id = $1`, [next.previous_id])
    expect([await accepted(key), await accepted(next.key)]).toEqual([false, true])
    // its form is right, because the pepper is the same
    await sql('delete from auth.service_role_keys')
    expect([await accepted(next.key), await accepted(`${next.key.slice(0, -1)}_`)]).toEqual([false, false])
  })
})

describe('9.15 a value that is changed while it is sealed anew', () => {
  it('stays as it was changed', async () => {
    const place = placeOf('X')
    const former = auth.env['SEALING_KEY']
    const [before, after] = [await request(() => seal('before', place)), await request(() => seal('after', place))]
    await sql(`insert into auth.vault_entries (name, sealed) values ('X', $1)`, [before])
    auth.env['SEALING_KEY'] = 'the next key'
    auth.env['SEALING_KEY_PREVIOUS'] = former
    try {
      await sql('begin; lock table auth.vault_entries in share row exclusive mode')
      const keyId = await sealingKeyId('the next key')
      const running = request(() => new Resealing(new Audit()).run(keyId, { actor: { type: 'system' } }))
      await vi.waitUntil(async () => (await sql('select from pg_locks where not granted')).length > 0)
      await sql('update auth.vault_entries set sealed = $1', [after])
      await sql('commit')
      await running
      const [row] = await sql<{ sealed: string }>('select sealed from auth.vault_entries')
      expect(row!.sealed).toBe(after)
      expect(await request(() => open(row!.sealed, place))).toBe('after')
    } finally {
      auth.env['SEALING_KEY'] = former
      delete auth.env['SEALING_KEY_PREVIOUS']
      await sql('delete from auth.vault_entries')
    }
  })
})
