import { Database, Injectable } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, networkOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import type { Sql } from '../shared/sql.ts'
import { Limits } from './rows.ts'

/** Admits new users: people who sign up, and guests. */
@Injectable()
export class SignUps {
  constructor(
    private readonly limits: Limits,
    private readonly settings: SettingsRows,
  ) {}

  /**
   * Counts the sign-up against the client's network, in a short transaction: it counts also where the request fails later.
   *
   * @param check refuses a sign-up that is not allowed. Such a sign-up is not counted.
   * @throws HttpError 403 `sign_up_disabled`, 429 `rate_limited`, and what `check` throws.
   */
  async admit(
    client: ClientInfo,
    check: (settings: Settings, sql: Sql) => void | Promise<void> = () => {},
  ): Promise<Settings> {
    const network = networkOf(client)
    const { document, refused } = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      if (document.sign_up_enabled === false) throw authError('sign_up_disabled')
      await check(document, sql)
      return { document, refused: network && (await this.limits.take(sql, 'sign_up_per_address', network, document)) }
    })
    if (refused) throw refused
    return document
  }
}
