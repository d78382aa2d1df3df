import { Database, Injectable } from '@stack/backend'
import { newId, userId } from '../../wire/ids.ts'
import { authError } from '../shared/errors.ts'

export interface User {
  id: string
  email: string
  email_confirmed_at: Date | null
  custom_claims: Record<string, unknown>
  /** The user may administer the stack: access tokens say so (contract 9.7). */
  is_operator: boolean
  created_at: Date
}

@Injectable()
export class Users {
  /**
   * The user, the password and the default role, in the transaction of the request: all or none of it.
   *
   * @returns `undefined` when the address is taken.
   */
  async create(email: string, phc: string): Promise<User | undefined> {
    const { sql } = Database.$asService()
    const [user] = await sql<User>`
      insert into auth.users (id, email) values (${newId('usr_')}, ${email}) on conflict (email) do nothing
      returning *, false as is_operator`
    if (!user) return undefined
    await sql`insert into auth.password_credentials (user_id, phc) values (${user.id}, ${phc})`
    await sql`insert into auth.user_roles (user_id, role) select ${user.id}, name from auth.roles where is_default`
    return user
  }

  async byEmail(email: string): Promise<(User & { phc: string | null }) | undefined> {
    const [user] = await Database.$asService().sql<User & { phc: string | null }>`
      select users.*, phc, exists (select from auth.operators where operators.user_id = users.id) as is_operator
      from auth.users
      left join auth.password_credentials on password_credentials.user_id = users.id where email = ${email}`
    return user
  }

  /** @throws HttpError 404 `user_not_found` */
  async require(id: string): Promise<void> {
    const rows = userId.test(id) ? await Database.$asService().sql`select from auth.users where id = ${id}` : []
    if (rows.length === 0) throw authError('user_not_found', `there is no user "${id}"`)
  }

  async signedIn(id: string): Promise<void> {
    await Database.$asService().sql`update auth.users set last_sign_in_at = now() where id = ${id}`
  }
}
