import { Database, HttpError, Injectable } from '@stack/backend'
import { newId, userId } from '../../wire/ids.ts'
import { authError } from '../shared/errors.ts'
import { inRequest, type Sql } from '../shared/sql.ts'

export interface User {
  id: string
  email: string | null
  email_confirmed_at: Date | null
  phone: string | null
  phone_confirmed_at: Date | null
  is_anonymous: boolean
  disabled_at: Date | null
  /** Sign-ins that began earlier are refused. */
  tokens_valid_after: Date | null
  custom_claims: Record<string, unknown>
  /** The user may administer the stack: access tokens say so (contract 9.7). */
  is_operator: boolean
  created_at: Date
}

/** A person who signs up, or a guest who becomes an account. */
export interface Newcomer {
  /** `null` where the person came without an address. */
  email: string | null
  /** A provider has confirmed the address. */
  isConfirmed: boolean
  /** What the hook `public.user_created` gets as `data` (contract 2.14). */
  data: object
}

/** A user as the auth module's answers show them. */
export interface ShownUser {
  id: string
  email: string | null
  email_verified: boolean
  phone: string | null
  is_anonymous: boolean
  created_at: string
}

export function shown({ id, email, email_confirmed_at, phone, is_anonymous, created_at }: User): ShownUser {
  const email_verified = email_confirmed_at !== null
  return { id, email, email_verified, phone, is_anonymous, created_at: created_at.toISOString() }
}

/** SQLSTATE of a violated unique index. */
const uniqueViolation = '23505'

/**
 * The person who made an account may not own its address. A way in that they add before it is confirmed would outlive the owner's
 * reset.
 * @throws HttpError 403 `email_not_confirmed`
 */
export function requireConfirmed({ email, email_confirmed_at }: Pick<User, 'email' | 'email_confirmed_at'>): void {
  if (email !== null && email_confirmed_at === null) throw authError('email_not_confirmed')
}

/** Whether another user has the address, also one that another transaction is just giving it to. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === uniqueViolation
}

@Injectable()
export class Users {
  /** A person who signs up with an address that is not confirmed yet. See `createFrom`. */
  create(email: string, data: object): Promise<User | undefined> {
    return this.createFrom({ email, isConfirmed: false, data })
  }

  /**
   * The user, the default role and what the project's hook makes of them, in the transaction of the request: all or none of it.
   *
   * An address that is taken gets the same work, which is undone: neither the answer nor its time tells that the address is known.
   * @returns `undefined` when the address is taken. @throws HttpError 422 `sign_up_refused` where the hook refuses.
   */
  async createFrom({ email, isConfirmed, data }: Newcomer): Promise<User | undefined> {
    const { sql } = Database.$asService()
    const id = newId('usr_')
    await sql`savepoint known_address`
    const [created] = await sql<User>`
      insert into auth.users (id, email, email_confirmed_at)
      values (${id}, ${email}, case when ${isConfirmed}::boolean then now() end) on conflict (email) do nothing
      returning *, false as is_operator`
    if (!created) {
      await sql`insert into auth.users (id) values (${id})`
      await this.welcomeInVain(id, email, data)
      await sql`rollback to savepoint known_address`
    } else await this.welcome(id, email, data)
    await sql`release savepoint known_address`
    return created
  }

  /** A user without an address: a guest, until an upgrade gives them one. Guests have no role, and no hook hears of them. */
  async createAnonymous(): Promise<User> {
    const [user] = await Database.$asService().sql<User>`
      insert into auth.users (id, is_anonymous) values (${newId('usr_')}, true) returning *, false as is_operator`
    return user!
  }

  /** Gives a guest an address. Of upgrades in parallel one wins. An address that is taken gets the same work, which is undone. */
  async upgrade(id: string, { email, isConfirmed, data }: Newcomer): Promise<User | 'taken' | 'not_anonymous'> {
    const { sql } = Database.$asService()
    const [guest] = await sql`
      select from auth.users where id = ${id} and is_anonymous and disabled_at is null for no key update`
    if (!guest) return 'not_anonymous'
    await sql`savepoint known_address`
    const user = await this.giveAddress(id, email, isConfirmed)
    if (!user) {
      await sql`rollback to savepoint known_address`
      await this.welcomeInVain(id, email, data)
      await sql`rollback to savepoint known_address`
      return 'taken'
    }
    await this.welcome(id, email, data)
    await sql`release savepoint known_address`
    return user
  }

  /** @returns `undefined` where another user has the address, also one that another transaction is just giving it to. */
  private async giveAddress(id: string, email: string | null, isConfirmed: boolean): Promise<User | undefined> {
    try {
      const [user] = await Database.$asService().sql<User>`
        update auth.users set email = ${email}, is_anonymous = false, updated_at = now(),
          email_confirmed_at = case when ${isConfirmed}::boolean then now() end where id = ${id}
        returning *, false as is_operator`
      return user
    } catch (error) {
      if (isTaken(error)) return undefined
      throw error
    }
  }

  async byEmail(email: string, sql: Sql = inRequest): Promise<(User & { phc: string | null }) | undefined> {
    const [user] = await sql<User & { phc: string | null }>`
      select users.*, phc, exists (select from auth.operators where operators.user_id = users.id) as is_operator
      from auth.users
      left join auth.password_credentials on password_credentials.user_id = users.id where email = ${email}`
    return user
  }

  async byId(id: string, sql: Sql = inRequest): Promise<(User & { phc: string | null }) | undefined> {
    const [user] = await sql<User & { phc: string | null }>`
      select users.*, phc, exists (select from auth.operators where operators.user_id = users.id) as is_operator
      from auth.users
      left join auth.password_credentials on password_credentials.user_id = users.id where users.id = ${id}`
    return user
  }

  /** The user, locked until the request ends. */
  async lock(id: string): Promise<User | undefined> {
    const [user] = await inRequest<User>`
      select users.*, exists (select from auth.operators where operators.user_id = users.id) as is_operator
      from auth.users where id = ${id} for no key update of users`
    return user
  }

  /**
   * The user, locked, if the password is still the one that was checked.
   * @param phc the hash that was checked. @returns `undefined` where it was changed meanwhile, or the user deleted.
   */
  async lockWithPassword(id: string, phc: string): Promise<User | undefined> {
    const [user] = await inRequest<User>`
      select users.*, exists (select from auth.operators where operators.user_id = users.id) as is_operator
      from auth.users join auth.password_credentials on password_credentials.user_id = users.id
      where users.id = ${id} and phc = ${phc} for no key update of users, password_credentials`
    return user
  }

  async lockByEmail(email: string): Promise<User | undefined> {
    const [user] = await inRequest<User>`
      select users.*, exists (select from auth.operators where operators.user_id = users.id) as is_operator
      from auth.users where email = ${email} for no key update of users`
    return user
  }

  /** The address is the user's, as a message to it or a provider has proved. @returns whether it still is the one of the account. */
  async confirmEmail(id: string, email: string): Promise<boolean> {
    const rows = await inRequest`
      update auth.users set email_confirmed_at = coalesce(email_confirmed_at, now()), updated_at = now()
      where id = ${id} and email = ${email} returning id`
    return rows.length > 0
  }

  /** Gives the user a confirmed address. @returns whether it was free: else the transaction is as it was before. */
  async moveToEmail(id: string, email: string): Promise<boolean> {
    await inRequest`savepoint other_address`
    try {
      await inRequest`
        update auth.users set email = ${email}, email_confirmed_at = now(), updated_at = now() where id = ${id}`
    } catch (error) {
      if (!isTaken(error)) throw error
      await inRequest`rollback to savepoint other_address`
      return false
    }
    await inRequest`release savepoint other_address`
    return true
  }

  /** Takes an address from an account that has not proved it: its owner has proved it now, for another account. */
  async freeUnproved(email: string): Promise<void> {
    await inRequest`
      update auth.users set email = null, updated_at = now() where email = ${email} and email_confirmed_at is null`
  }

  async removePhone(id: string): Promise<void> {
    await inRequest`update auth.users set phone = null, phone_confirmed_at = null, updated_at = now() where id = ${id}`
  }

  /** @throws HttpError 404 `user_not_found` */
  async require(id: string): Promise<void> {
    const rows = userId.test(id) ? await Database.$asService().sql`select from auth.users where id = ${id}` : []
    if (rows.length === 0) throw authError('user_not_found', `there is no user "${id}"`)
  }

  /**
   * Waits for changes of the user that are under way, so that the sign-in happens whole before them or not at all.
   * @param user as it was read when the sign-in began.
   * @returns whether the user may still sign in: neither disabled, nor all credentials revoked, since then.
   */
  async signedIn({ id, tokens_valid_after }: User): Promise<boolean> {
    const rows = await Database.$asService().sql`
      update auth.users set last_sign_in_at = now()
      where id = ${id} and disabled_at is null and tokens_valid_after is not distinct from ${tokens_valid_after} returning id`
    return rows.length > 0
  }

  /**
   * Locks the user for a change of what belongs to them: such changes follow each other, and the user is not deleted meanwhile.
   * @throws HttpError 404 `user_not_found`
   */
  async hold(id: string): Promise<void> {
    const rows = userId.test(id) ? await inRequest`select from auth.users where id = ${id} for no key update` : []
    if (rows.length === 0) throw authError('user_not_found', `there is no user "${id}"`)
  }

  /** Deletes the user with the rows of all tables. The ids of the sessions stay, as ended ones (contract 3.5). */
  async remove(id: string): Promise<void> {
    await Database.$asService().sql`delete from auth.users where id = ${id}`
  }

  /**
   * The same work for an address that is known already. The caller undoes it. Only the refusal that the hook means for the person who
   * signs up is passed on: another error would tell that the address is known.
   */
  private async welcomeInVain(id: string, email: string | null, data: object): Promise<void> {
    try {
      await this.welcome(id, email, data)
    } catch (error) {
      if (error instanceof HttpError) throw error
    }
  }

  /** The default role, then the project's own hook, whichever way the user comes (contract 2.14). */
  async welcome(id: string, email: string | null, data: object): Promise<void> {
    const { sql } = Database.$asService()
    await sql`insert into auth.user_roles (user_id, role) select ${id}, name from auth.roles where is_default`
    const [hook] = await sql<{ exists: boolean }>`
      select to_regprocedure('public.user_created(text,text,jsonb)') is not null as exists`
    if (!hook!.exists) return
    try {
      await sql`select public.user_created(${id}, ${email}, ${JSON.stringify(data)}::jsonb)`
    } catch (error) {
      // a message that the project raised itself is meant for the person who signs up
      if (!(error instanceof Error && 'code' in error && error.code === 'P0001')) throw error
      throw authError('sign_up_refused', error.message)
    }
  }
}
