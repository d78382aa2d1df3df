import { Database, type HttpError, Injectable } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { Audit } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
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
    private readonly settings: SettingsRows,
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
      const { document } = await this.settings.read(sql)
      const crowded = network && (await this.limits.take(sql, 'sign_in_per_address', network, document))
      const refused = crowded || (await this.countForAccount(sql, account, key, document, find, client))
      return { user: refused ? undefined : await find(this.users, sql), settings: document, refused }
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

  /**
   * Counts the attempt against the account. The first refusal of a period has an entry of the audit trail, and the others have none.
   * @param account the account as one network sees it. @param everywhere the account as all of them see it.
   */
  private async countForAccount(
    sql: Sql,
    account: string,
    everywhere: string,
    settings: Settings,
    find: FindUser,
    client: ClientInfo,
  ): Promise<HttpError | undefined> {
    for (const [limit, key] of [
      ['sign_in_per_account', account],
      ['sign_in_per_account_everywhere', everywhere],
    ] as const) {
      const refused = await this.limits.take(sql, limit, key, settings)
      if (refused && (await this.limits.isFirstRefusal(sql, limit, key, settings))) {
        const user = await find(this.users, sql)
        const target = user ? { target: { type: 'user', id: user.id } as const } : {}
        await this.audit.record(
          { event: 'user.locked', outcome: 'failure', reason: limit, actor: { type: 'system' }, ...target, client },
          sql,
        )
      }
      if (refused) return refused
    }
    return undefined
  }
}
