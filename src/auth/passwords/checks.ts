import { Database, Injectable } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { Audit } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { type ClientInfo, networkOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import { type User, Users } from '../users/rows.ts'
import { isPassword } from './hash.ts'

/** Reads the user whose password is checked. */
type FindUser = (users: Users, sql: Sql) => ReturnType<Users['byId']>

/**
 * The check of a password, in three steps that share no transaction: the attempt is counted and the hash read, then the password is
 * hashed while no connection is held (contract 2.15), then a failure is written down. Each step is committed by itself.
 */
@Injectable()
export class PasswordChecks {
  constructor(
    private readonly audit: Audit,
    private readonly limits: Limits,
    private readonly users: Users,
  ) {}

  /** Like `check`, and forgets the attempts at once, however the request goes on. */
  async require(...asked: Parameters<PasswordChecks['check']>): ReturnType<PasswordChecks['check']> {
    const checked = await this.check(...asked)
    await Database.$apart((sql) => this.forgive(checked.account, sql))
    return checked
  }

  /**
   * Runs argon2id exactly once, whether the address is known or not, and nothing of the answer or its time tells which.
   * @param key the account that attempts are counted under. @param find reads the user.
   * @throws HttpError 401 `invalid_credentials`, 429 `rate_limited`
   */
  async check(
    password: string,
    key: string,
    client: ClientInfo,
    find: FindUser,
  ): Promise<{ user: User; phc: string; settings: Settings; account: string }> {
    const network = networkOf(client)
    // a stranger's wrong attempts count under the stranger's network, so that they do not lock the owner out
    const account = `${key} ${network ?? ''}`
    const { user, settings, refused } = await Database.$apart(async (sql) => {
      const { settings, full, refused } = await this.limits.takeEach(sql, [
        ...(network ? [['sign_in_per_address', network] as const] : []),
        ['sign_in_per_account', account],
        ['sign_in_per_account_everywhere', key],
      ])
      const user = full === 'sign_in_per_address' ? undefined : await find(this.users, sql)
      if (full === 'sign_in_per_account') await this.noteRefusal(sql, full, account, settings, user, client)
      if (full === 'sign_in_per_account_everywhere') await this.noteRefusal(sql, full, key, settings, user, client)
      return { user, settings, refused }
    })
    if (refused) throw refused
    const isRight = await isPassword(password, user?.phc ?? undefined)
    if (isRight && user?.phc) return { user, phc: user.phc, settings, account }
    await Database.$apart(async (sql) => {
      const target = user ? { target: { type: 'user', id: user.id } as const } : {}
      const event = 'user.sign_in_failed'
      const actor = { type: 'anonymous' } as const
      await this.audit.record({ event, outcome: 'failure', reason: 'wrong_password', actor, ...target, client }, sql)
    })
    throw authError('invalid_credentials')
  }

  /** Forgets the attempts of an account, whose right password was given. @param account as `check` returns it. */
  forgive(account: string, sql: Sql = inRequest): Promise<void> {
    return this.limits.forget(sql, 'sign_in_per_account', account)
  }

  /** The first refusal of a period has an entry of the audit trail, and the others have none. */
  private async noteRefusal(
    sql: Sql,
    limit: 'sign_in_per_account' | 'sign_in_per_account_everywhere',
    key: string,
    settings: Settings,
    user: User | undefined,
    client: ClientInfo,
  ): Promise<void> {
    if (!(await this.limits.isFirstRefusal(sql, limit, key, settings))) return
    const target = user ? { target: { type: 'user', id: user.id } as const } : {}
    const actor = { type: 'system' } as const
    await this.audit.record({ event: 'user.locked', outcome: 'failure', reason: limit, actor, ...target, client }, sql)
  }
}
