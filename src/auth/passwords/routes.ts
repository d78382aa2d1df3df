import { Body, Controller, Post } from '@stack/backend'
import * as v from 'valibot'
import { Sessions } from '../sessions/rows.ts'
import { type TokenAnswer, Tokens } from '../sessions/tokens.ts'
import { SettingsRows } from '../settings/rows.ts'
import { authError } from '../shared/errors.ts'
import { Users } from '../users/rows.ts'
import { hashPassword, isPassword, requirePasswordFits } from './hash.ts'

/** The longest password that is looked at, in UTF-16 units: far over any policy, far under a burden. */
const longestPassword = 1024

const credentials = v.strictObject({
  email: v.pipe(v.string(), v.trim(), v.toLowerCase(), v.maxLength(254), v.email('this is no email address')),
  password: v.pipe(v.string(), v.maxLength(longestPassword)),
})

type Credentials = v.InferOutput<typeof credentials>

@Controller('/auth', { auth: false })
export class PasswordsController {
  constructor(
    private readonly users: Users,
    private readonly sessions: Sessions,
    private readonly settings: SettingsRows,
    private readonly tokens: Tokens,
  ) {}

  /** Where addresses must be confirmed, a new and a known one get the same answer; else a known one cannot be hidden. */
  @Post('sign-up')
  async signUp(
    @Body(credentials) { email, password }: Credentials,
  ): Promise<TokenAnswer | { status: 'confirmation_required' }> {
    const { document } = await this.settings.read()
    requirePasswordFits(password, document)
    const user = await this.users.create(email, await hashPassword(password))
    if (document.confirm_email_required) return { status: 'confirmation_required' }
    if (!user) throw authError('email_taken')
    return this.begin(user)
  }

  /** Always one run of argon2id; whether the address is confirmed is only told to who knows the password. */
  @Post('sign-in/password')
  async signIn(@Body(credentials) { email, password }: Credentials): Promise<TokenAnswer> {
    const user = await this.users.byEmail(email)
    if (!(await isPassword(password, user?.phc ?? undefined)) || !user) throw authError('invalid_credentials')
    const { document } = await this.settings.read()
    if (document.confirm_email_required && !user.email_confirmed_at) throw authError('email_not_confirmed')
    return this.begin(user)
  }

  private async begin(user: Parameters<Tokens['issue']>[0]): Promise<TokenAnswer> {
    await this.users.signedIn(user.id)
    return this.tokens.issue(user, await this.sessions.begin(user.id))
  }
}
