import { Injectable } from '@stack/backend'
import { Consents, type RecordedConsent } from '../consents/rows.ts'
import { type Device, Devices } from '../devices/rows.ts'
import { type Factor, Factors, Recovery, type RecoveryCodes } from '../mfa/rows.ts'
import { type HeldRole, Roles } from '../roles/rows.ts'
import { type SessionRecord, SessionRecords } from '../sessions/records.ts'
import { inRequest } from '../shared/sql.ts'
import type { Account } from './rows.ts'

/** Rows of one list at most: the document is made in memory. The newest ones are given, and `truncated` names the list. */
const mostRows = 5_000

/** Everything that the stack keeps about a user, but hashes and secrets. */
export interface ExportedAccount {
  format: 'stack.auth.export/1'
  exported_at: Date
  user: Account
  identities: object[]
  sessions: SessionRecord[]
  mfa: { factors: Factor[]; recovery_codes: RecoveryCodes | null }
  roles: HeldRole[]
  consents: RecordedConsent[]
  devices: Device[]
  messages: object[]
  audit: object[]
  /** Names of lists that hold more than the 5,000 rows that are given. */
  truncated: string[]
}

@Injectable()
export class AccountExport {
  constructor(
    private readonly consents: Consents,
    private readonly devices: Devices,
    private readonly factors: Factors,
    private readonly recovery: Recovery,
    private readonly roles: Roles,
    private readonly sessions: SessionRecords,
  ) {}

  async of(user: Account): Promise<ExportedAccount> {
    const { id } = user
    const truncated: string[] = []
    const cut = <T>(name: string, rows: T[]): T[] => {
      if (rows.length > mostRows) truncated.push(name)
      return rows.slice(0, mostRows)
    }
    return {
      format: 'stack.auth.export/1',
      exported_at: new Date(),
      user,
      identities: await this.identitiesOf(id),
      sessions: cut('sessions', await this.sessions.allOf(id, mostRows + 1)),
      mfa: { factors: await this.factors.ofUser(id), recovery_codes: await this.recovery.countOf(id) },
      roles: await this.roles.heldBy(id),
      consents: await this.consents.recordedOf(id),
      devices: cut('devices', await this.devices.allOf(id, mostRows + 1)),
      messages: cut('messages', await this.messagesOf(id)),
      audit: cut('audit', await this.auditOf(id)),
      truncated,
    }
  }

  private identitiesOf(id: string): Promise<object[]> {
    return inRequest`
      select provider, subject, client_key, email, email_verified, profile, created_at, last_sign_in_at from auth.identities
      where user_id = ${id} order by created_at, provider, subject`
  }

  /** Without the values that a template was filled with: a project may have put anything into them. */
  private messagesOf(id: string): Promise<object[]> {
    return inRequest`
      select id, template, channel, recipient, status, created_at, sent_at from auth.outbox where user_id = ${id}
      order by id desc limit ${mostRows + 1}`
  }

  /** Entries by the user and about the user. Where another person acted, the address and the device are that person's data. */
  private auditOf(id: string): Promise<object[]> {
    return inRequest`
      select id, occurred_at, event_type, outcome, reason, actor_type, target_type, target_id, session_id, changes, details,
        case when actor_id is not distinct from ${id} or actor_type in ('anonymous', 'system') then host(ip) end as ip,
        case when actor_id is not distinct from ${id} or actor_type in ('anonymous', 'system') then user_agent end as user_agent
      from (
        (select * from stack.audit where target_id = ${id} order by id desc limit ${mostRows + 1})
        union
        (select * from stack.audit where actor_id = ${id} order by id desc limit ${mostRows + 1})
      ) own order by id desc limit ${mostRows + 1}`
  }
}
