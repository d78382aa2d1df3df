import { Database, Injectable } from '@stack/backend'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { open, seal } from '../shared/seal.ts'

/** One mint at a time; the number names nothing else. */
const mintLock = 7_301_201

export interface SigningKey {
  kid: string
  key: CryptoKey
}

/** The keys that sign access tokens: ES256, the private half sealed at rest, the kid its thumbprint (RFC 7638). */
@Injectable()
export class SigningKeys {
  /** What verifiers may meet: the next, the active and the retired keys. Mints the first one. */
  async published(): Promise<JWK[]> {
    if (!(await this.read())) await this.mint() // the private half is not opened for this
    const rows = await Database.$asService().sql<{ public_jwk: JWK }>`
      select public_jwk from auth.signing_keys order by created_at desc`
    return rows.map(({ public_jwk }) => public_jwk)
  }

  async active(): Promise<SigningKey> {
    const { kid, sealed } = (await this.read()) ?? (await this.mint())
    const key = (await importJWK(JSON.parse(await open(sealed, `signing key ${kid}`)), 'ES256')) as CryptoKey
    return { kid, key }
  }

  private async read(): Promise<{ kid: string; sealed: string } | undefined> {
    const [row] = await Database.$asService().sql<{ kid: string; sealed: string }>`
      select kid, encode(sealed_private, 'base64') as sealed from auth.signing_keys where state = 'active'`
    return row && { kid: row.kid, sealed: row.sealed.replaceAll('\n', '') }
  }

  private async mint(): Promise<{ kid: string; sealed: string }> {
    const { sql } = Database.$asService()
    await sql`select pg_advisory_xact_lock(${mintLock})`
    const existing = await this.read()
    if (existing) return existing
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const publicJwk = await exportJWK(publicKey)
    const kid = await calculateJwkThumbprint(publicJwk)
    const sealed = await seal(JSON.stringify(await exportJWK(privateKey)), `signing key ${kid}`)
    const published = JSON.stringify({ ...publicJwk, kid, alg: 'ES256', use: 'sig' })
    await sql`insert into auth.signing_keys (kid, public_jwk, sealed_private, state)
      values (${kid}, ${published}, decode(${sealed}, 'base64'), 'active')`
    return { kid, sealed }
  }
}
