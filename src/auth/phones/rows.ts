import { Injectable } from '@stack/backend'
import { newId } from '../../wire/ids.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import { isTaken, type User, Users } from '../users/rows.ts'

/** The phone numbers of accounts. A number is written down once its owner has proved it. */
@Injectable()
export class Phones {
  constructor(private readonly users: Users) {}

  /** @returns the id of the user with the number. */
  async ownerOf(phone: string, sql: Sql = inRequest): Promise<string | undefined> {
    const [owner] = await sql<{ id: string }>`select id from auth.users where phone = ${phone}`
    return owner?.id
  }

  /** The user with the number, locked until the request ends. */
  async lockOwner(phone: string): Promise<User | undefined> {
    const [user] = await inRequest<User>`
      select users.*, exists (select from auth.operators where operators.user_id = users.id) as is_operator
      from auth.users where phone = ${phone} for no key update of users`
    return user
  }

  async confirm(id: string): Promise<void> {
    await inRequest`update auth.users set phone_confirmed_at = coalesce(phone_confirmed_at, now()) where id = ${id}`
  }

  /** A user with the number, the default role, and what the project's hook makes of them. @returns `undefined` where it is taken. */
  async create(phone: string, data: object): Promise<User | undefined> {
    const [user] = await inRequest<User>`
      insert into auth.users (id, phone, phone_confirmed_at) values (${newId('usr_')}, ${phone}, now())
      on conflict (phone) do nothing returning *, false as is_operator`
    if (user) await this.users.welcome(user.id, null, data)
    return user
  }

  /** Makes an account of a guest. Of upgrades in parallel one wins. */
  async upgrade(id: string, phone: string, data: object): Promise<User | 'taken' | 'not_anonymous'> {
    const [guest] = await inRequest`
      select from auth.users where id = ${id} and is_anonymous and disabled_at is null for no key update`
    if (!guest) return 'not_anonymous'
    const user = await this.move(id, phone)
    if (!user) return 'taken'
    await this.users.welcome(id, null, data)
    return user
  }

  /** Gives the user the number. @returns `undefined` where it is taken: then the transaction is as it was before. */
  async move(id: string, phone: string): Promise<User | undefined> {
    await inRequest`savepoint other_number`
    try {
      const [user] = await inRequest<User>`
        update auth.users set phone = ${phone}, phone_confirmed_at = now(), is_anonymous = false, updated_at = now()
        where id = ${id}
        returning *, exists (select from auth.operators where operators.user_id = users.id) as is_operator`
      await inRequest`release savepoint other_number`
      return user
    } catch (error) {
      if (!isTaken(error)) throw error
      await inRequest`rollback to savepoint other_number`
      return undefined
    }
  }
}
