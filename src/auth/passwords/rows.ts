import { Database, Injectable } from '@stack/backend'

@Injectable()
export class Passwords {
  /** Sets the password of a user, or replaces it. */
  async set(userId: string, phc: string): Promise<void> {
    await Database.$asService().sql`
      insert into auth.password_credentials (user_id, phc) values (${userId}, ${phc})
      on conflict (user_id) do update set phc = excluded.phc, changed_at = now()`
  }

  async remove(userId: string): Promise<void> {
    await Database.$asService().sql`delete from auth.password_credentials where user_id = ${userId}`
  }

  /**
   * Replaces the hash that was checked. @returns whether it was still that one: of two changes with one old password, one succeeds.
   */
  async replace(userId: string, before: string, phc: string): Promise<boolean> {
    const rows = await Database.$asService().sql`
      update auth.password_credentials set phc = ${phc}, changed_at = now()
      where user_id = ${userId} and phc = ${before} returning user_id`
    return rows.length > 0
  }
}
