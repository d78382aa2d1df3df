import { Database, Injectable } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { Limits } from '../limits/rows.ts'
import { type ClientInfo, networkOf } from '../shared/client.ts'

/** Admits requests that send a message to an address which the client names: else a stranger could fill a mailbox. */
@Injectable()
export class MailAdmission {
  constructor(private readonly limits: Limits) {}

  /**
   * Counts the request against the address, known or not, and against the client's network: it counts also where the request fails.
   * @throws HttpError 429 `rate_limited`
   */
  async admit(recipient: string, client: ClientInfo): Promise<Settings> {
    const network = networkOf(client)
    const { settings, refused } = await Database.$apart((sql) =>
      this.limits.takeEach(sql, [
        ...(network ? [['mail_per_address', network] as const] : []),
        ['mail_per_recipient', recipient],
      ]),
    )
    if (refused) throw refused
    return settings
  }
}
