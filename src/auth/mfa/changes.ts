import { Injectable } from '@stack/backend'
import { Audit } from '../audit/rows.ts'
import { Notices } from '../mail/notices.ts'
import type { ClientInfo } from '../shared/client.ts'
import { Users } from '../users/rows.ts'
import type { Factor } from './rows.ts'

/** How mails call the types of factors. */
const names = { totp: 'an authenticator app', webauthn: 'a passkey' } as const satisfies Record<Factor['type'], string>

/** Writes down a change of an account's factors, and tells its owner by mail, in the transaction of the change. */
@Injectable()
export class FactorChanges {
  constructor(
    private readonly audit: Audit,
    private readonly notices: Notices,
    private readonly users: Users,
  ) {}

  async enrolled(userId: string, factor: Pick<Factor, 'id' | 'type'>, client: ClientInfo): Promise<void> {
    await this.record('mfa.enrolled', userId, factor, client)
    const user = await this.users.byId(userId)
    if (user) await this.notices.toUser(user, 'mfa_enrolled', client, { factor_type: names[factor.type] })
  }

  async removed(userId: string, factor: Pick<Factor, 'id' | 'type'>, client: ClientInfo): Promise<void> {
    await this.record('mfa.removed', userId, factor, client)
    const user = await this.users.byId(userId)
    if (user) await this.notices.toUser(user, 'mfa_removed', client, { factor_type: names[factor.type], actor: 'you' })
  }

  private record(
    event: 'mfa.enrolled' | 'mfa.removed',
    id: string,
    factor: Pick<Factor, 'id' | 'type'>,
    client: ClientInfo,
  ): Promise<void> {
    const user = { type: 'user', id } as const
    const details = { factor_id: factor.id, type: factor.type }
    return this.audit.record({ event, actor: user, target: user, client, details })
  }
}
