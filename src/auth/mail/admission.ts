import { Database, Injectable } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { Limits } from '../limits/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, networkOf } from '../shared/client.ts'

/** Admits requests that send a message to an address which the client names: else a stranger could fill a mailbox. */
@Injectable()
export class MailAdmission {
  constructor(
    private readonly limits: Limits,
    private readonly settings: SettingsRows,
  ) {}

  /**
   * Counts the request against the address, known or not, and against the client's network: it counts also where the request fails.
   * @throws HttpError 429 `rate_limited`
   */
  async admit(recipient: string, client: ClientInfo): Promise<Settings> {
    const network = networkOf(client)
    const { document, refused } = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      const refused =
        (network && (await this.limits.take(sql, 'mail_per_address', network, document))) ||
        (await this.limits.take(sql, 'mail_per_recipient', recipient, document))
      return { document, refused }
    })
    if (refused) throw refused
    return document
  }
}
