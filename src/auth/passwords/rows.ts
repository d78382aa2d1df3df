import { Database, Injectable } from '@stack/backend'

@Injectable()
export class Passwords {
  /** Sets the password of a user, or replaces it. */
  async set(userId: string, phc: string): Promise<void> {
    await Database.$asService().sql`
      insert into auth.password_credentials (user_id, phc) values (${userId}, ${phc})
      on conflict (user_id) do update set phc = excluded.phc, changed_at = now()`
  }

  /** The same password under newer parameters: only where it was not changed meanwhile. */
  async rehash(userId: string, before: string, phc: string): Promise<void> {
    await Database.$asService().sql`
      update auth.password_credentials set phc = ${phc} where user_id = ${userId} and phc = ${before}`
  }
}
