import { Database, HttpError, Injectable } from '@stack/backend'
import { newId } from '../../wire/ids.ts'
import { Outbox } from '../mail/outbox.ts'
import { type Change, changesBetween } from '../shared/changes.ts'
import type { Position } from '../shared/cursor.ts'
import { authError } from '../shared/errors.ts'
import { parameters } from '../shared/list.ts'
import { inRequest } from '../shared/sql.ts'
import { Users } from '../users/rows.ts'
import type { AccountChange, NewAccount } from './schemas.ts'

/** A user as the management surface shows them. */
export interface Account {
  id: string
  email: string | null
  email_verified: boolean
  phone: string | null
  phone_verified: boolean
  is_anonymous: boolean
  disabled: boolean
  disabled_at: Date | null
  custom_claims: Record<string, unknown>
  last_sign_in_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface AccountFilters {
  email: string | undefined
  phone: string | undefined
  /** The beginning of an address, or of a phone number where it starts with `+`. */
  query: string | undefined
  disabled: 'true' | 'false' | undefined
}

/** How many credentials of each kind `POST /users/<id>/credentials/revoke-all` took from a user. */
export interface RevokedCredentials {
  password: number
  sessions: number
  identities: number
  factors: number
  devices: number
  one_time_tokens: number
}

const columns = `id, email, email_confirmed_at is not null as email_verified, phone, phone_confirmed_at is not null as phone_verified,
  is_anonymous, disabled_at is not null as disabled, disabled_at, custom_claims, last_sign_in_at, created_at, updated_at`

/** Sorts behind every character that an address may have. */
const behindAll = '\u{10ffff}'

@Injectable()
export class Accounts {
  constructor(
    private readonly outbox: Outbox,
    private readonly users: Users,
  ) {}

  /** The newest first. With a `query` in the order of the addresses, or of the phone numbers: their index finds the beginning. */
  async list(
    { email, phone, query, disabled }: AccountFilters,
    limit: number,
    after: Position | undefined,
  ): Promise<{ account: Account; position: Position }[]> {
    const { values, bind } = parameters()
    const sought = query?.startsWith('+') ? 'phone' : 'email'
    const conditions = ['true']
    if (email !== undefined) conditions.push(`email = ${bind(email)}`)
    if (phone !== undefined) conditions.push(`phone = ${bind(phone)}`)
    if (disabled !== undefined) conditions.push(`disabled_at is ${disabled === 'true' ? 'not ' : ''}null`)
    let order = 'created_at desc, id desc'
    let place = `to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
    if (query !== undefined) {
      place = `${sought} collate "C"`
      order = place
      const from = after ? `> ${bind(after[0])}` : `>= ${bind(query.toLowerCase())}`
      conditions.push(
        `${sought} is not null and ${place} ${from} and ${place} < ${bind(query.toLowerCase() + behindAll)}`,
      )
    } else if (after) conditions.push(`(created_at, id) < (${bind(after[0])}::timestamptz, ${bind(after[1])})`)
    const rows = await Database.$asService().query<Account & { place: string }>(
      `select ${columns}, ${place} as place from auth.users where ${conditions.join(' and ')} order by ${order} limit ${bind(limit)}`,
      values,
    )
    return rows.map(({ place, ...account }) => ({ account, position: [place, account.id] }))
  }

  async byId(id: string): Promise<Account | undefined> {
    const [account] = await Database.$asService().query<Account>(`select ${columns} from auth.users where id = $1`, [
      id,
    ])
    return account
  }

  /**
   * The user, the default role and what the project's hook makes of them (contract 2.14).
   * @throws HttpError 409 `email_taken` or `phone_taken`, 422 `sign_up_refused`
   */
  async create({ email, phone, email_confirmed, phone_confirmed, custom_claims, data }: NewAccount): Promise<string> {
    const id = newId('usr_')
    const [created] = await inRequest`
      insert into auth.users (id, email, email_confirmed_at, phone, phone_confirmed_at, custom_claims)
      values (${id}, ${email ?? null}, case when ${email_confirmed}::boolean then now() end, ${phone ?? null},
        case when ${phone_confirmed}::boolean then now() end, ${JSON.stringify(custom_claims)})
      on conflict do nothing returning id`
    if (!created) throw await this.taken(email ?? null, phone ?? null)
    await this.users.welcome(id, email ?? null, data)
    return id
  }

  /**
   * Changes the user, who is locked meanwhile. A new address or phone number is not confirmed unless the change says so, and makes one-time
   * tokens of the old one worthless.
   *
   * @returns the differences, without `disabled`, whether that has changed, and the confirmed address that is not the user's any more.
   * @throws HttpError 409 `email_taken`, `phone_taken` or `conflict`, 400 `invalid_request`
   */
  async change(
    id: string,
    change: AccountChange,
  ): Promise<{ changes: Change[]; isDisabled?: boolean; formerAddress?: string }> {
    await this.users.hold(id)
    const before = (await this.byId(id))!
    const email = change.email === undefined ? before.email : change.email
    const phone = change.phone === undefined ? before.phone : change.phone
    if (before.is_anonymous && (email !== null || phone !== null)) {
      throw new HttpError(409, 'conflict', 'a guest has no address: the upgrade of the guest gives one')
    }
    if (!before.is_anonymous && email === null && phone === null) {
      throw unfit('email', 'a user has an email address or a phone number')
    }
    const email_verified = change.email_confirmed ?? (before.email_verified && email === before.email)
    const phone_verified = change.phone_confirmed ?? (before.phone_verified && phone === before.phone)
    if (email_verified && email === null) throw unfit('email_confirmed', 'there is no address that could be confirmed')
    if (phone_verified && phone === null)
      throw unfit('phone_confirmed', 'there is no phone number that could be confirmed')
    const disabled = change.disabled ?? before.disabled
    const custom_claims = change.custom_claims ?? before.custom_claims
    const after = { email, email_verified, phone, phone_verified, custom_claims }
    const changes = changesBetween(pick(before), after)
    if (changes.length === 0 && disabled === before.disabled) return { changes }
    await this.requireFree(id, email, phone)
    await inRequest`
      update auth.users set email = ${email}, phone = ${phone}, custom_claims = ${JSON.stringify(custom_claims)}, updated_at = now(),
        email_confirmed_at = case when not ${email_verified}::boolean then null
          when email is distinct from ${email} then now() else coalesce(email_confirmed_at, now()) end,
        phone_confirmed_at = case when not ${phone_verified}::boolean then null
          when phone is distinct from ${phone} then now() else coalesce(phone_confirmed_at, now()) end,
        disabled_at = case when ${disabled}::boolean then coalesce(disabled_at, now()) end
      where id = ${id}`
    if (email !== before.email || phone !== before.phone) await this.forgetTokens(id)
    return {
      changes,
      ...(disabled === before.disabled ? {} : { isDisabled: disabled }),
      ...(before.email !== null && before.email_verified && email !== before.email
        ? { formerAddress: before.email }
        : {}),
    }
  }

  /** @returns whether there was such a user. */
  async remove(id: string): Promise<boolean> {
    const removed = await inRequest`delete from auth.users where id = ${id} returning id`
    return removed.length > 0
  }

  /** Takes the password, the identities and the one-time tokens of the user, and sign-ins with a provider that are under way. */
  async revokeCredentials(id: string): Promise<Omit<RevokedCredentials, 'devices' | 'factors' | 'sessions'>> {
    const password = await inRequest`delete from auth.password_credentials where user_id = ${id} returning user_id`
    const one_time_tokens = await this.forgetTokens(id)
    await inRequest`
      delete from auth.handoff_codes where link_user_id = ${id}
        or person ->> 'email' = (select email from auth.users where id = ${id})
        or (person ->> 'provider', person ->> 'subject') in (select provider, subject from auth.identities where user_id = ${id})`
    const identities = await inRequest`delete from auth.identities where user_id = ${id} returning user_id`
    await inRequest`delete from auth.oauth_flows where link_user_id = ${id}`
    return { password: password.length, identities: identities.length, one_time_tokens }
  }

  /** Refuses sign-ins that have begun before this moment and are still under way. */
  async refuseEarlierSignIns(id: string): Promise<void> {
    // a Date has milliseconds, and this moment is compared with one
    await inRequest`update auth.users set tokens_valid_after = date_trunc('milliseconds', clock_timestamp()) where id = ${id}`
  }

  /** Voids the one-time tokens of the user, and those that a message which waits to be sent would carry. @returns how many were good. */
  private async forgetTokens(id: string): Promise<number> {
    await this.outbox.dropOf(id, true)
    const tokens = await inRequest<{ was_good: boolean }>`
      delete from auth.one_time_tokens where user_id = ${id}
        or (purpose = 'phone_sign_in' and target = (select phone from auth.users where id = ${id}))
      returning consumed_at is null and expires_at > now() as was_good`
    return tokens.filter(({ was_good }) => was_good).length
  }

  /** @throws HttpError 409 where another user has the address or the phone number. */
  private async requireFree(id: string, email: string | null, phone: string | null): Promise<void> {
    const others = await inRequest`
      select from auth.users where id <> ${id} and (email = ${email} or phone = ${phone}) limit 1`
    if (others.length > 0) throw await this.taken(email, phone, id)
  }

  private async taken(email: string | null, phone: string | null, own = ''): Promise<HttpError> {
    const rows = await inRequest`select from auth.users where email = ${email} and id <> ${own}`
    return authError(rows.length > 0 || phone === null ? 'email_taken' : 'phone_taken')
  }
}

function pick({ email, email_verified, phone, phone_verified, custom_claims }: Account): object {
  return { email, email_verified, phone, phone_verified, custom_claims }
}

function unfit(path: string, reason: string): HttpError {
  return new HttpError(400, 'invalid_request', `the request is not valid: ${path}: ${reason}`, {
    fields: [{ path, reason }],
  })
}
