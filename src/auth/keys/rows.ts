import { Cron, Injectable, Log } from '@stack/backend'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { open, seal } from '../shared/seal.ts'
import { inRequest } from '../shared/sql.ts'
import type { KeyRecord } from './overlap.ts'

/** Advisory lock under which keys are minted and rotated, one at a time; the number names nothing else. */
const mintLock = 7_301_201

/**
 * Seconds that a key is published before it signs. A verifier asks for the key set at most once in 300 s (contract 3.2), and a cache
 * on the way may keep it for as long: after twice that time every verifier has seen the key.
 */
const publishedBeforeSeconds = 600

/** Seconds that a key stays published after its successor signs: the life of its last token, and the caches once more. */
const publishedAfterSeconds = 900 + 600

/** Days that a key signs where the settings say nothing. NIST SP 800-57 allows a signature key one to three years. */
const defaultRotationDays = 90

export interface SigningKey {
  kid: string
  key: CryptoKey
  /** The project has the function `public.token_claims` (contract 3.8). It is read along, because every token needs both. */
  hasClaimsHook: boolean
}

/** What a rotation has decided. */
export interface Rotation {
  /** The key that signs from `signs_from` on. */
  kid: string
  signs_from: Date
  /** The key that signs until then. */
  previous_kid: string
}

interface SealedKey extends Pick<SigningKey, 'kid' | 'hasClaimsHook'> {
  sealed: string
}

/**
 * The keys that sign access tokens: ES256, the private half sealed at rest, the kid its thumbprint (RFC 7638). The key with the
 * latest `activate_at` that has passed signs; one without that moment is the next one, published early.
 */
@Injectable()
export class SigningKeys {
  /** The key that signed last in this isolate: opening and importing it again costs more than signing. */
  private opened: { kid: string; sealed: string; key: CryptoKey } | undefined

  /** The next, the active and the retired keys, for verifiers. Mints the first one. */
  async published(): Promise<JWK[]> {
    if (!(await this.read())) await this.mintFirst() // its private half is not opened for this
    const rows = await inRequest<{ public_jwk: JWK }>`
      select public_jwk from auth.signing_keys where activate_at is null
        or kid not in (select retired.kid from auth.signing_keys retired
          join auth.signing_keys successor on successor.activate_at > retired.activate_at
          where successor.activate_at < now() - make_interval(secs => ${publishedAfterSeconds}))
      order by created_at desc`
    return rows.map(({ public_jwk }) => public_jwk)
  }

  /** The newest first. A previous key stays published until its last token has expired. */
  async list(): Promise<KeyRecord[]> {
    return inRequest<KeyRecord>`
      with keys as (select kid, created_at, activate_at, lead(activate_at) over (order by activate_at) as succeeded_at
        from auth.signing_keys)
      select 'signing' as kind, kid as id,
        case when activate_at is null or activate_at > now() then 'next'
          when succeeded_at is null or succeeded_at > now() then 'current'
          when succeeded_at + make_interval(secs => ${publishedAfterSeconds}) > now() then 'previous' else 'ended' end as state,
        'module' as source, created_at, succeeded_at + make_interval(secs => ${publishedAfterSeconds}) as valid_until
      from keys order by created_at desc`
  }

  async active(): Promise<SigningKey> {
    const found = (await this.read()) ?? (await this.mintFirst())
    const { kid, sealed, hasClaimsHook } = found
    const { opened } = this
    if (opened?.kid === kid && opened.sealed === sealed) return { kid, key: opened.key, hasClaimsHook }
    const key = (await importJWK(JSON.parse(await open(sealed, placeOf(kid))), 'ES256')) as CryptoKey
    this.opened = { kid, sealed, key }
    return { kid, key, hasClaimsHook }
  }

  /**
   * Decides when the next key takes over: at once, or as soon as it was published for long enough. Then publishes another next key.
   * @returns the rotation, and whether this call decided it: one that is under way is returned as it is.
   */
  async rotate(): Promise<{ rotation: Rotation; isNew: boolean }> {
    await this.lock()
    if (!(await this.read())) await this.mint(true)
    const [coming] = await inRequest<Rotation>`
      select kid, activate_at as signs_from, (select kid from auth.signing_keys where activate_at <= now()
        order by activate_at desc limit 1) as previous_kid
      from auth.signing_keys where activate_at > now() order by activate_at limit 1`
    if (coming) return { rotation: coming, isNew: false }
    await this.ensureNext()
    const [rotation] = await inRequest<Rotation>`
      with previous as (select kid from auth.signing_keys where activate_at <= now() order by activate_at desc limit 1)
      update auth.signing_keys next
        set activate_at = greatest(now(), created_at + make_interval(secs => ${publishedBeforeSeconds}))
      where activate_at is null returning next.kid, activate_at as signs_from, (select kid from previous) as previous_kid`
    await this.mint(false)
    return { rotation: rotation!, isNew: true }
  }

  /**
   * Each hour: publishes a next key where there is none, rotates a key that has signed for as long as the setting
   * `signing_key_rotation_days` says, and forgets keys that no token can name any more.
   */
  @Cron('5 * * * *')
  async maintain(): Promise<void> {
    await this.lock()
    if (!(await this.read())) return
    await this.ensureNext()
    const [age] = await inRequest<{ is_old: boolean }>`
      select max(activate_at) < now() - make_interval(days => coalesce(
        (select (document ->> 'signing_key_rotation_days')::integer from auth.settings), ${defaultRotationDays})) as is_old
      from auth.signing_keys where activate_at <= now()`
    if (age!.is_old) {
      const { rotation, isNew } = await this.rotate()
      if (isNew) Log.info('the signing key is rotated on schedule', { ...rotation })
    }
    const forgotten = await inRequest`
      delete from auth.signing_keys retired where exists (select from auth.signing_keys successor
        where successor.activate_at > retired.activate_at
          and successor.activate_at < now() - make_interval(secs => ${publishedAfterSeconds})) returning kid`
    if (forgotten.length > 0) Log.info('signing keys without tokens are forgotten', { count: forgotten.length })
  }

  private async ensureNext(): Promise<void> {
    const next = await inRequest`select from auth.signing_keys where activate_at is null`
    if (next.length === 0) await this.mint(false)
  }

  private async lock(): Promise<void> {
    await inRequest`select pg_advisory_xact_lock(${mintLock})`
  }

  private async read(): Promise<SealedKey | undefined> {
    const [row] = await inRequest<SealedKey>`
      select kid, encode(sealed_private, 'base64') as sealed,
        to_regprocedure('public.token_claims(text)') is not null as "hasClaimsHook"
      from auth.signing_keys where activate_at <= now() order by activate_at desc limit 1`
    return row && { ...row, sealed: row.sealed.replaceAll('\n', '') }
  }

  private async mintFirst(): Promise<SealedKey> {
    await this.lock()
    if (!(await this.read())) await this.mint(true)
    return (await this.read())!
  }

  /** @param isActive whether it signs at once; else it is the next one. */
  private async mint(isActive: boolean): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const publicJwk = await exportJWK(publicKey)
    const kid = await calculateJwkThumbprint(publicJwk)
    const sealed = await seal(JSON.stringify(await exportJWK(privateKey)), placeOf(kid))
    const published = JSON.stringify({ ...publicJwk, kid, alg: 'ES256', use: 'sig' })
    await inRequest`insert into auth.signing_keys (kid, public_jwk, sealed_private, activate_at)
      values (${kid}, ${published}, decode(${sealed}, 'base64'), case when ${isActive}::boolean then now() end)`
  }
}

/** What a sealed key belongs to: moved to another row, it does not open. */
export const placeOf = (kid: string) => `signing key ${kid}`
