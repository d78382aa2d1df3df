import { Injectable } from '@stack/backend'
import type { ClientInfo } from '../shared/client.ts'
import { knownLabelOf } from '../shared/device.ts'
import type { User } from '../users/rows.ts'
import { Delivery } from './delivery.ts'
import type { TemplateKey } from './templates.ts'

/** Stands for the client of a person who administers: their address and device are not told to the owner of the account. */
export const unnamed: ClientInfo = { ip: null, country: null, user_agent: null, request_id: '' }

/** Tells the owner of an account of a change of it, with where it was made. */
@Injectable()
export class Notices {
  constructor(private readonly delivery: Delivery) {}

  /**
   * Queues a mail in the transaction of the change. An account without an address gets none.
   * @param to the address, where it is not the account's present one.
   */
  async toUser(
    { id, email }: Pick<User, 'id' | 'email'>,
    template: TemplateKey,
    client: ClientInfo,
    variables: Record<string, string> = {},
    to: string | null = email,
  ): Promise<void> {
    if (to === null) return
    const where = {
      device: knownLabelOf(client.user_agent) ?? 'unknown device',
      ip: client.ip ?? 'unknown',
      country: client.country ?? 'unknown',
      occurred_at: `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    }
    await this.delivery.queue({ template, recipient: to, userId: id, variables: { ...where, ...variables } })
  }
}
