import { Database, Injectable } from '@stack/backend'

export interface Operator {
  user_id: string
  email: string | null
  created_at: Date
}

@Injectable()
export class Operators {
  /** In the order in which they were added. */
  list(): Promise<Operator[]> {
    return Database.$asService().sql<Operator>`
      select user_id, email, operators.created_at from auth.operators join auth.users on id = user_id
      order by operators.created_at, user_id`
  }

  /** Adding twice leaves one row. @returns whether this call added it. */
  async add(userId: string): Promise<boolean> {
    const added = await Database.$asService().sql`
      insert into auth.operators (user_id) values (${userId}) on conflict do nothing returning user_id`
    return added.length > 0
  }

  /** @returns whether this call removed it. */
  async remove(userId: string): Promise<boolean> {
    const removed = await Database.$asService()
      .sql`delete from auth.operators where user_id = ${userId} returning user_id`
    return removed.length > 0
  }
}
