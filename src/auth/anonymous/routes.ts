import { Controller, Database, Post, Req, RequestId } from '@stack/backend'
import { Limits } from '../limits/rows.ts'
import { SignIn } from '../sessions/sign-in.ts'
import type { TokenAnswer } from '../sessions/tokens.ts'
import { SettingsRows } from '../settings/rows.ts'
import { clientOf, networkOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { Users } from '../users/rows.ts'

@Controller('/auth', { auth: false })
export class AnonymousController {
  constructor(
    private readonly limits: Limits,
    private readonly settings: SettingsRows,
    private readonly signIns: SignIn,
    private readonly users: Users,
  ) {}

  /** A session for a person without an account. `POST /auth/upgrade` makes an account of it later. */
  @Post('anonymous')
  async begin(@Req() request: Request, @RequestId() requestId: string): Promise<TokenAnswer> {
    const client = clientOf(request, requestId)
    const refused = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      if (document.sign_up_enabled === false) throw authError('sign_up_disabled')
      const network = networkOf(client)
      return network && this.limits.take(sql, 'sign_up_per_address', network, document)
    })
    if (refused) throw refused
    return this.signIns.begin(await this.users.createAnonymous(), [], client)
  }
}
