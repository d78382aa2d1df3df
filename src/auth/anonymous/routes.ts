import { Controller, Post, Req, RequestId } from '@stack/backend'
import { SignUps } from '../limits/sign-ups.ts'
import { SignIn } from '../sessions/sign-in.ts'
import type { TokenAnswer } from '../sessions/tokens.ts'
import { clientOf } from '../shared/client.ts'
import { Users } from '../users/rows.ts'

@Controller('/auth', { auth: false })
export class AnonymousController {
  constructor(
    private readonly signIns: SignIn,
    private readonly signUps: SignUps,
    private readonly users: Users,
  ) {}

  /** A session for a person without an account. `POST /auth/upgrade` makes an account of it later. */
  @Post('anonymous')
  async begin(@Req() request: Request, @RequestId() requestId: string): Promise<TokenAnswer> {
    const client = clientOf(request, requestId)
    await this.signUps.admit(client)
    return this.signIns.begin(await this.users.createAnonymous(), [], client)
  }
}
