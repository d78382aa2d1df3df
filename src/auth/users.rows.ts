import { Database, Injectable } from '@stack/backend'
import { newId } from '../wire/ids.ts'

export interface User {
  id: string
  email: string
  email_confirmed_at: Date | null
  custom_claims: Record<string, unknown>
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
      insert into auth.users (id, email) values (${newId('usr_')}, ${email}) on conflict (email) do nothing returning *`
    if (!user) return undefined
    await sql`insert into auth.password_credentials (user_id, phc) values (${user.id}, ${phc})`
    await sql`insert into auth.user_roles (user_id, role) select ${user.id}, name from auth.roles where is_default`
    return user
  }

  async byEmail(email: string): Promise<(User & { phc: string | null }) | undefined> {
    const [user] = await Database.$asService().sql<User & { phc: string | null }>`
      select users.*, password_credentials.phc from auth.users
      left join auth.password_credentials on user_id = id where email = ${email}`
    return user
  }

  async exists(id: string): Promise<boolean> {
    const rows = await Database.$asService().sql`select from auth.users where id = ${id}`
    return rows.length > 0
  }

  async signedIn(id: string): Promise<void> {
    await Database.$asService().sql`update auth.users set last_sign_in_at = now() where id = ${id}`
  }
}
