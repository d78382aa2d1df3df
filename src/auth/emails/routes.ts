import { Body, Controller, Database, Post, Req, RequestId } from '@stack/backend'
import * as v from 'valibot'
import { Audit } from '../audit/rows.ts'
import { MailAdmission } from '../mail/admission.ts'
import { Delivery } from '../mail/delivery.ts'
import { Notices } from '../mail/notices.ts'
import { presented, token } from '../mail/schemas.ts'
import { OneTimeTokens, type Presented } from '../mail/tokens.ts'
import { PasswordChecks } from '../passwords/checks.ts'
import { password } from '../passwords/schemas.ts'
import { Sessions } from '../sessions/rows.ts'
import { clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { email } from '../shared/fields.ts'
import { requireRecent } from '../shared/recent.ts'
import { strictObject } from '../shared/strict-object.ts'
import { Users } from '../users/rows.ts'
import { Addresses } from './addresses.ts'

const resendBody = strictObject({ email })
const changeBody = strictObject({ email, current_password: v.optional(password) })
const undoBody = strictObject({ token })

/** The address of an account: confirmed, sent again, changed, and kept after all. */
@Controller('/auth/email', { auth: false })
export class EmailsController {
  constructor(
    private readonly addresses: Addresses,
    private readonly admission: MailAdmission,
    private readonly audit: Audit,
    private readonly checks: PasswordChecks,
    private readonly delivery: Delivery,
    private readonly notices: Notices,
    private readonly sessions: Sessions,
    private readonly tokens: OneTimeTokens,
    private readonly users: Users,
  ) {}

  /** Proves the address of an account. It begins no session: a mail program may open links by itself. */
  @Post('confirm')
  async confirm(
    @Body(presented) body: v.InferOutput<typeof presented>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'confirmed'; email: string }> {
    const found = await this.tokens.find('confirm_email', presentedBy(body))
    return { status: 'confirmed', email: await this.addresses.confirm(found, clientOf(request, requestId)) }
  }

  /** Sends the mail of the sign-up again. The answer is the same for every address, and so is the work before it. */
  @Post('resend', { status: 202 })
  async resend(
    @Body(resendBody) { email }: v.InferOutput<typeof resendBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'sent' }> {
    await this.addresses.resend(email, clientOf(request, requestId))
    return { status: 'sent' }
  }

  /**
   * Asks for another address. It counts once the mail to it has come back. The present address hears of it at once, and may keep
   * itself. An account with a password proves it again, and every other one has signed in shortly before.
   */
  @Post('change', { auth: true, status: 202 })
  async change(
    @Body(changeBody) { email, current_password }: v.InferOutput<typeof changeBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'sent' }> {
    const client = clientOf(request, requestId)
    const { id } = await Database.$apart((sql) => this.sessions.caller(sql))
    const user = await Database.$apart((sql) => this.users.byId(id, sql))
    if (!user) throw authError('user_not_found')
    if (email === user.email) throw authError('same_email')
    if (user.phc === null) await requireRecent()
    else {
      if (current_password === undefined) throw authError('invalid_credentials', 'the present password is required')
      const find = (users: Users, sql: Parameters<Users['byId']>[1]) => users.byId(id, sql)
      await this.checks.require(current_password, id, client, find)
    }
    await this.admission.admit(email, client)
    const isTaken = (await this.users.byEmail(email)) !== undefined
    if (isTaken) await this.delivery.queue({ template: 'existing_account', recipient: email, userId: null })
    else {
      await this.delivery.queue({
        template: 'email_change_confirm',
        recipient: email,
        userId: id,
        variables: { new_email: email },
      })
    }
    const addresses = { old_email: user.email ?? '', new_email: email }
    if (user.email_confirmed_at) await this.notices.toUser(user, 'email_change_notice', client, addresses)
    const actor = { type: 'user', id } as const
    await this.audit.record({ event: 'user.email_change_requested', actor, target: actor, client })
    return { status: 'sent' }
  }

  /** The new address has read its mail: it is the account's from now on. */
  @Post('change/confirm')
  async confirmChange(
    @Body(presented) body: v.InferOutput<typeof presented>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'changed'; email: string }> {
    const found = await this.tokens.find('email_change', presentedBy(body))
    return { status: 'changed', email: await this.addresses.change(found, clientOf(request, requestId)) }
  }

  /** The owner of the former address keeps it, and takes the account back. */
  @Post('undo')
  async undo(
    @Body(undoBody) body: v.InferOutput<typeof undoBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'kept'; email: string }> {
    const found = await this.tokens.find('email_change_undo', body)
    return { status: 'kept', email: await this.addresses.undo(found, clientOf(request, requestId)) }
  }
}

/** What the client presents, as `OneTimeTokens` takes it. */
function presentedBy(body: v.InferOutput<typeof presented>): Presented {
  return 'token' in body ? body : { target: body.email, code: body.code }
}
