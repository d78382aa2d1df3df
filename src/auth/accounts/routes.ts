import {
  Body,
  Controller,
  Database,
  Delete,
  Get,
  HttpError,
  OptionalUser,
  Param,
  Patch,
  Post,
  Query,
  Req,
  RequestId,
  type UserT,
} from '@stack/backend'
import type * as v from 'valibot'
import { mailAddress } from '../../wire/mail-address.ts'
import type { AuditEvent } from '../audit/events.ts'
import { Audit, administering, type Entry } from '../audit/rows.ts'
import { Devices } from '../devices/rows.ts'
import { Limits } from '../limits/rows.ts'
import { Delivery } from '../mail/delivery.ts'
import { Notices, unnamed } from '../mail/notices.ts'
import { PendingActions } from '../mail/pending.ts'
import { linkSeconds } from '../mail/preparation.ts'
import { Senders } from '../mail/senders/index.ts'
import { Challenges, Factors, Recovery } from '../mfa/rows.ts'
import { Breaches } from '../passwords/breaches.ts'
import { hashPassword, importedHash, requirePasswordFits } from '../passwords/hash.ts'
import { Passwords } from '../passwords/rows.ts'
import { Sessions } from '../sessions/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import type { JsonResponse } from '../shared/answer.ts'
import { authError } from '../shared/errors.ts'
import { phoneNumber } from '../shared/fields.ts'
import { filterFault, type Listed, pageOf, requireOneOf } from '../shared/list.ts'
import { Users } from '../users/rows.ts'
import { AccountExport, type ExportedAccount } from './export.ts'
import { type Account, Accounts, type RevokedCredentials } from './rows.ts'
import { type AccountChange, accountChange, type NewAccount, newAccount, passwordReset } from './schemas.ts'

/** Characters of the longest `query` of users: as many as an address has. */
const longestQuery = 254

/** The accounts of all users. */
@Controller('/v1/management/auth/users', { auth: { serviceRole: true } })
export class AccountsController {
  constructor(
    private readonly accounts: Accounts,
    private readonly audit: Audit,
    private readonly breaches: Breaches,
    private readonly challenges: Challenges,
    private readonly delivery: Delivery,
    private readonly devices: Devices,
    private readonly exports: AccountExport,
    private readonly factors: Factors,
    private readonly limits: Limits,
    private readonly notices: Notices,
    private readonly passwords: Passwords,
    private readonly recovery: Recovery,
    private readonly pending: PendingActions,
    private readonly senders: Senders,
    private readonly sessions: Sessions,
    private readonly settings: SettingsRows,
    private readonly users: Users,
  ) {}

  /** The newest first. `query` is the beginning of an address, or of a phone number with its `+`: the order is then theirs. */
  @Get()
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('email') email: string | undefined,
    @Query('phone') phone: string | undefined,
    @Query('query') query: string | undefined,
    @Query('disabled') disabled: string | undefined,
  ): Promise<Listed<Account>> {
    const address = email === undefined ? undefined : mailAddress(email)
    if (email !== undefined && address === undefined) throw filterFault('email', 'this is no email address')
    if (phone !== undefined && !phoneNumber.test(phone))
      throw filterFault('phone', 'it is a number like +4915112345678')
    if (query !== undefined && query.length > longestQuery) {
      throw filterFault('query', `it has at most ${longestQuery} characters`)
    }
    const filters = { email: address, phone, query, disabled: requireOneOf('disabled', disabled, ['true', 'false']) }
    const page = await pageOf('users', { limit, cursor }, filters)
    const rows = await this.accounts.list(filters, page.limit + 1, page.after)
    const { data, ...rest } = await page.of(rows, ({ position }) => position)
    return { data: data.map(({ account }) => account), ...rest }
  }

  /** Makes a user, also where `sign_up_enabled` is false. The default role and the hook are those of a sign-up (contract 2.14). */
  @Post('', { status: 201 })
  async create(
    @Body(newAccount) account: NewAccount,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Account> {
    const { password, password_hash } = account
    let phc = password_hash === undefined ? undefined : importedHash(password_hash)
    if (password !== undefined) {
      const { document } = await Database.$apart((sql) => this.settings.read(sql))
      requirePasswordFits(password, document)
      await this.breaches.refuse(password, document)
      phc = await hashPassword(password)
    }
    const id = await this.accounts.create(account)
    if (phc !== undefined) await this.passwords.set(id, phc)
    const details = { password: phc === undefined ? 'none' : password === undefined ? 'imported' : 'set' }
    await this.note('user.created', id, administering(operator, request, requestId), { details })
    return this.found(id)
  }

  @Get(':id')
  async read(@Param('id') id: string): Promise<Account> {
    return this.found(id)
  }

  /** A field that is left out keeps its value. Disabling ends every session at once. */
  @Patch(':id')
  async change(
    @Param('id') id: string,
    @Body(accountChange) change: AccountChange,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Account> {
    const { changes, isDisabled, formerAddress } = await this.accounts.change(id, change)
    const by = administering(operator, request, requestId)
    if (changes.length > 0) await this.note('user.updated', id, by, { changes })
    if (formerAddress !== undefined) {
      const told = { new_email: change.email ?? 'removed' }
      await this.notices.toUser({ id, email: formerAddress }, 'email_changed', unnamed, told)
    }
    if (isDisabled) {
      const ended = await this.sessions.endAll(id, 'user_disabled')
      await this.note('user.disabled', id, by, { details: { sessions_ended: ended.length } })
    } else if (isDisabled === false) await this.note('user.enabled', id, by)
    return this.found(id)
  }

  /** Deletes the user with everything that belongs to them. Their tokens are refused from the next request on. */
  @Delete(':id')
  async remove(
    @Param('id') id: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    if (!(await this.accounts.remove(id))) throw unknownUser(id)
    await this.note('user.deleted', id, administering(operator, request, requestId))
  }

  /** One document with everything that is kept about the user: no hash and no secret. */
  @Get(':id/export')
  async export(
    @Param('id') id: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<JsonResponse<ExportedAccount>> {
    const document = await this.exports.of(await this.found(id))
    await this.note('user.exported', id, administering(operator, request, requestId))
    const headers = {
      'content-type': 'application/json',
      'content-disposition': `attachment; filename="${id}.json"`,
      'cache-control': 'no-store',
    }
    return new Response(JSON.stringify(document, null, 2), { headers }) as JsonResponse<ExportedAccount>
  }

  /**
   * Takes everything that signs the user in. The user is locked after the credentials and before the sessions, as a sign-in does it: one
   * that is under way has committed its session before that is ended here, or it fails.
   */
  @Post(':id/credentials/revoke-all')
  async revokeCredentials(
    @Param('id') id: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ user_id: string; revoked: RevokedCredentials }> {
    await this.users.require(id)
    const credentials = await this.accounts.revokeCredentials(id)
    const factors = await this.factors.removeAll(id)
    await this.recovery.remove(id)
    await this.challenges.forget(id)
    await this.accounts.refuseEarlierSignIns(id)
    const { length: sessions } = await this.sessions.endAll(id, 'credential_revoked')
    const devices = await this.devices.revokeAll(id, 'credentials_revoked')
    const revoked = { ...credentials, factors, sessions, devices }
    if (Object.values(revoked).some((count) => count > 0)) {
      await this.note('credentials.revoked', id, administering(operator, request, requestId), { details: revoked })
    }
    return { user_id: id, revoked }
  }

  /**
   * Sends the user a mail with which to choose another password. The link is in no answer. Sessions end unless the body says otherwise, and
   * the present password works until another one is chosen.
   */
  @Post(':id/reset-password', { status: 202 })
  async resetPassword(
    @Param('id') id: string,
    @Body(passwordReset) { revoke_sessions }: v.InferOutput<typeof passwordReset>,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'sent'; expires_at: Date }> {
    const email = await this.admitReset(id)
    await this.users.hold(id)
    await this.pending.void(id)
    const ended = revoke_sessions ? await this.sessions.endAll(id, 'revoked_all') : []
    await this.delivery.queue({ template: 'reset_password', recipient: email, userId: id })
    const details = { sessions_ended: ended.length }
    await this.note('password.reset_requested', id, administering(operator, request, requestId), { details })
    return { status: 'sent', expires_at: new Date(Date.now() + linkSeconds * 1_000) }
  }

  /** @returns the address that the mail goes to. @throws HttpError 404, 409 or 429 where none can be sent. */
  private async admitReset(id: string): Promise<string> {
    const { email, refused } = await Database.$apart(async (sql) => {
      const user = await this.users.byId(id, sql)
      if (!user) throw unknownUser(id)
      if (user.email === null) throw new HttpError(409, 'conflict', 'this user has no email address')
      if (user.disabled_at)
        throw new HttpError(409, 'conflict', 'this user is disabled, and gets no mail: enable them first')
      const { document } = await this.settings.read(sql)
      if (!(await this.senders.transportOf(document, 'email', sql))) throw authError('sender_not_configured')
      return { email: user.email, refused: await this.limits.take(sql, 'mail_per_recipient', user.email, document) }
    })
    if (refused) throw refused
    return email
  }

  /** @throws HttpError 404 `user_not_found` */
  private async found(id: string): Promise<Account> {
    const account = await this.accounts.byId(id)
    if (!account) throw unknownUser(id)
    return account
  }

  private note(
    event: AuditEvent & `${'user' | 'credentials' | 'password'}.${string}`,
    id: string,
    by: ReturnType<typeof administering>,
    more: Pick<Entry, 'changes' | 'details'> = {},
  ): Promise<void> {
    return this.audit.record({ event, ...by, target: { type: 'user', id }, ...more })
  }
}

function unknownUser(id: string) {
  return authError('user_not_found', `there is no user "${id}"`)
}
