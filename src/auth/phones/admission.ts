import { Database, Injectable } from '@stack/backend'
import { Limits } from '../limits/rows.ts'
import { PhoneSettingsReader, requireAllowed } from '../providers/phone-settings.ts'
import { ProviderStates } from '../providers/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, networkOf } from '../shared/client.ts'
import type { Sql } from '../shared/sql.ts'

/**
 * Characters of a number that its prefix has: the `+` and 4 digits. They name a country with an area or a network. Fraud with paid
 * numbers asks for codes to many numbers of one such range.
 */
export const prefixLength = 5

/** Seconds of the day in the setting `per_number_per_day`. */
const daySeconds = 86_400

/** Admits requests that send a text message to a number which the client names: each message costs money, and rings a phone. */
@Injectable()
export class TextAdmission {
  constructor(
    private readonly limits: Limits,
    private readonly phoneSettings: PhoneSettingsReader,
    private readonly providers: ProviderStates,
    private readonly settings: SettingsRows,
  ) {}

  /**
   * Counts the request, whether an account has the number or not. It counts also where the request fails later.
   *
   * @param check refuses a request that is not allowed. Such a request is not counted.
   * @throws HttpError 403 `provider_disabled`, 422 `phone_not_allowed`, 429 `rate_limited`, and what `check` throws.
   */
  async admit<T = void>(phone: string, client: ClientInfo, check: (sql: Sql) => Promise<T>): Promise<T> {
    const network = networkOf(client)
    const { checked, refused } = await Database.$apart(async (sql) => {
      await this.providers.requireEnabled('phone', sql)
      const checked = await check(sql)
      const { resend_seconds, per_number_per_day, ...settings } = await this.phoneSettings.read(sql)
      requireAllowed(phone, settings)
      const { document } = await this.settings.read(sql)
      const rate_limits = {
        sms_interval: { attempts: 1, seconds: resend_seconds },
        sms_per_recipient: { attempts: per_number_per_day, seconds: daySeconds },
        ...document.rate_limits,
      }
      const byNetwork = network && (await this.limits.take(sql, 'sms_per_address', network, { rate_limits }))
      if (byNetwork) return { checked, refused: byNetwork }
      // a message that is not sent takes nothing from the number
      await sql`savepoint number_limits`
      const refused =
        (await this.limits.take(sql, 'sms_interval', phone, { rate_limits })) ||
        (await this.limits.take(sql, 'sms_per_recipient', phone, { rate_limits })) ||
        (await this.limits.take(sql, 'sms_per_prefix', phone.slice(0, prefixLength), { rate_limits }))
      if (refused) await sql`rollback to savepoint number_limits`
      return { checked, refused }
    })
    if (refused) throw refused
    return checked
  }
}
