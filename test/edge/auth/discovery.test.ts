/** What verifiers and load balancers read of the auth worker (contract 9.10, 9.13). */
import * as fs from 'node:fs'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { lastMigration } from '../../../src/auth/health/migrations.ts'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

describe('9.10 the metadata of the issuer', () => {
  it('is the same at both addresses, and leads to keys that verify a token', async () => {
    const at = '/auth/.well-known/openid-configuration'
    const [openid, oauth] = [await shop.call(at), await shop.call('/.well-known/oauth-authorization-server/auth')]
    expect([openid.status, openid.text]).toEqual([200, oauth.text])
    const { token } = await shop.signUp()
    const { issuer, jwks_uri } = openid.json
    const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(jwks_uri)), { issuer, algorithms: ['ES256'] })
    expect([issuer, payload.iss]).toEqual([`${shop.url}/auth`, issuer])
    const claims = Object.keys(payload).filter((name) => !openid.json.claims_supported.includes(name))
    expect(claims).toEqual([])
  })

  it('names no endpoint that there is not', async () => {
    const { json } = await shop.call('/auth/.well-known/openid-configuration')
    const endpoints = Object.keys(json).filter((name) => /_endpoint$/.test(name))
    expect([endpoints, json.response_types_supported, json.grant_types_supported]).toEqual([[], [], []])
  })
})

describe('9.13 the health of a stack', () => {
  it('is 200 where it can serve', async () => {
    const { status, json, headers } = await shop.call('/auth/health')
    expect([status, json]).toEqual([200, { status: 'ok', database: 'ok', migrations: 'current' }])
    expect(headers.get('cache-control')).toBe('no-store')
    expect((await shop.call('/auth/health', { method: 'POST' })).status).toBe(405)
  })

  it('is 503 where the database lacks a migration, or is not reached', async () => {
    const of = `where set_name = 'auth' and name = '${lastMigration}'`
    await shop.sql(`update stack.migrations set name = 'kept.sql' ${of}`)
    const pending = await shop.call('/auth/health')
    await shop.sql(`update stack.migrations set name = '${lastMigration}' where name = 'kept.sql'`)
    expect([pending.status, pending.json]).toEqual([
      503,
      { status: 'unavailable', database: 'ok', migrations: 'pending' },
    ])
    await shop.sql('revoke select on stack.migrations from auth_admin')
    const unreachable = await shop.call('/auth/health')
    await shop.sql('grant select on stack.migrations to auth_admin')
    expect([unreachable.status, unreachable.json.database]).toEqual([503, 'unreachable'])
    expect((await shop.call('/auth/health')).status).toBe(200)
  })

  it('asks for the last migration that there is', () => {
    const names = fs.readdirSync('src/auth/migrations').sort()
    expect(names.at(-1)).toBe(lastMigration)
  })
})
