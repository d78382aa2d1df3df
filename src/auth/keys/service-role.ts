import { Injectable } from '@stack/backend'
import { serviceRoleKeyPlace } from '../../wire/secrets.ts'
import { base64url, randomText } from '../shared/base64url.ts'
import { optionalBinding } from '../shared/bindings.ts'
import { authError } from '../shared/errors.ts'
import { authenticate, open, seal } from '../shared/seal.ts'
import { inRequest } from '../shared/sql.ts'
import type { KeyRecord } from './overlap.ts'

/** Advisory lock under which these keys are rotated, one at a time. The number names nothing else. */
const rotationLock = 7_301_204

/** Service-role keys that may be accepted at the same time. More of them are forgotten ones. */
const mostAccepted = 10

/** A key that was made here: 32 random bytes, and 12 bytes that only a holder of the pepper can compute for them. */
const minted = /^srk_([A-Za-z0-9_-]{43})([A-Za-z0-9_-]{16})$/

const encoder = new TextEncoder()

/** The decision of a rotation. */
export interface ServiceRoleRotation {
  /** The new key, given this once. `null` for an operator, who may administer the stack and may not become its owner. */
  key: string | null
  id: string
  /** `null` where there was none. */
  previous_id: string | null
  /** The previous key is refused from then on. */
  previous_valid_until: Date | null
}

/**
 * The keys that administer the stack (contract 9.7). The binding SERVICE_ROLE_KEY is one of them until a rotation ends its value. The table
 * has digests under a key outside the database, and the newest key sealed, because the backend worker calls with it.
 */
@Injectable()
export class ServiceRoleKeys {
  /**
   * Called by the worker itself for each request with `apikey`. The answer is read anew each time, so that a rotation counts at once in
   * every isolate. A key that this stack has not made is refused without a look at the database.
   */
  async accepts(key: string): Promise<boolean> {
    const bound = optionalBinding('SERVICE_ROLE_KEY')
    const isBound = bound !== undefined && (await isSame(key, bound))
    if (!isBound && !(await isMinted(key))) return false
    const { digest } = await namesOf(key)
    const [row] = await inRequest<{ is_accepted: boolean }>`
      select accepted_until is null or accepted_until > clock_timestamp() as is_accepted
      from auth.service_role_keys where digest = ${digest}`
    return row?.is_accepted ?? isBound
  }

  /** @returns the key that the backend worker calls with, or `undefined` while it is the binding. */
  async current(): Promise<string | undefined> {
    const [row] = await inRequest<{ id: string; sealed: string }>`
      select id, sealed from auth.service_role_keys where sealed is not null order by position desc limit 1`
    return row && open(row.sealed, serviceRoleKeyPlace(row.id))
  }

  /** @throws HttpError 409 `too_many_keys` where others are still accepted. */
  async rotate(overlapSeconds: number): Promise<ServiceRoleRotation & { key: string }> {
    await inRequest`select pg_advisory_xact_lock(${rotationLock})`
    const bound = optionalBinding('SERVICE_ROLE_KEY')
    if (bound !== undefined) {
      const { digest, id } = await namesOf(bound)
      await inRequest`
        insert into auth.service_role_keys (digest, id, source) values (${digest}, ${id}, 'binding') on conflict do nothing`
    }
    const accepted = await inRequest<{ id: string; position: string; accepted_until: Date }>`
      update auth.service_role_keys set sealed = null,
        accepted_until = least(accepted_until, clock_timestamp() + make_interval(secs => ${overlapSeconds}))
      where accepted_until is null or accepted_until > clock_timestamp()
      returning id, position, accepted_until`
    if (overlapSeconds > 0 && accepted.length >= mostAccepted) throw authError('too_many_keys')
    const key = await mint()
    const { digest, id } = await namesOf(key)
    await inRequest`
      insert into auth.service_role_keys (digest, id, source, sealed)
      values (${digest}, ${id}, 'rotation', ${await seal(key, serviceRoleKeyPlace(id))})`
    const previous = accepted.sort((one, other) => Number(other.position) - Number(one.position))[0]
    return { key, id, previous_id: previous?.id ?? null, previous_valid_until: previous?.accepted_until ?? null }
  }

  /** The newest first. A binding that no rotation has met is shown as current beside them: it has no row yet. */
  async list(): Promise<KeyRecord[]> {
    const rows = await inRequest<KeyRecord>`
      select 'service_role' as kind, id, case when accepted_until is null then 'current'
          when accepted_until > now() then 'previous' else 'ended' end as state,
        case source when 'binding' then 'binding' else 'module' end as source,
        case source when 'rotation' then created_at end as created_at, accepted_until as valid_until
      from auth.service_role_keys order by position desc limit ${mostListed}`
    const bound = optionalBinding('SERVICE_ROLE_KEY')
    if (bound === undefined) return rows
    const { digest, id } = await namesOf(bound)
    const known = await inRequest`select from auth.service_role_keys where digest = ${digest}`
    if (known.length > 0) return rows
    const binding = {
      kind: 'service_role',
      id,
      state: 'current',
      source: 'binding',
      created_at: null,
      valid_until: null,
    }
    return [binding as KeyRecord, ...rows]
  }
}

/** Rows of the list: ended keys are kept for ever. */
const mostListed = 100

/** @returns the digest that the table has, and the fingerprint that people see. */
async function namesOf(key: string): Promise<{ digest: string; id: string }> {
  const bytes = await authenticate('PASSWORD_PEPPER', encoder.encode(`service-role key digest\0${key}`))
  const digest = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { digest, id: digest.slice(0, 16) }
}

async function mint(): Promise<string> {
  const random = randomText(32)
  return `srk_${random}${await tagOf(random)}`
}

async function isMinted(key: string): Promise<boolean> {
  const [, random, tag] = minted.exec(key) ?? []
  return random !== undefined && tag !== undefined && isSame(tag, await tagOf(random))
}

async function tagOf(random: string): Promise<string> {
  const tag = await authenticate('PASSWORD_PEPPER', encoder.encode(`service-role key\0${random}`))
  return base64url(tag.subarray(0, 12))
}

/** Compares digests in constant time. Digests have equal lengths, so the time does not reveal the key's length either. */
async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((text) => crypto.subtle.digest('SHA-256', encoder.encode(text))))
  return crypto.subtle.timingSafeEqual(a!, b!)
}
