import { Controller, HttpError, Param, Post, Req, RequestId, Secrets } from '@stack/backend'
import { Audit } from '../audit/rows.ts'
import { clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { Users } from '../users/rows.ts'
import { Sessions } from './rows.ts'
import { type TokenAnswer, Tokens } from './tokens.ts'

/** Sessions without a sign-in, for a person who tries out routes on their own machine: what `stack token` calls (contract 10.5). */
@Controller('/v1/management/auth/users', { auth: { serviceRole: 'key' } })
export class LocalTokensController {
  constructor(
    private readonly audit: Audit,
    private readonly sessions: Sessions,
    private readonly tokens: Tokens,
    private readonly users: Users,
  ) {}

  /** @throws HttpError 404 on every stack but a local one. Elsewhere the holder of the key must not act as a user. */
  @Post(':id/tokens')
  async issue(@Param('id') id: string, @Req() request: Request, @RequestId() requestId: string): Promise<TokenAnswer> {
    if (!isLocalStack()) throw new HttpError(404, 'not_found', 'only a local stack issues tokens without a sign-in')
    const user = await this.users.byId(id)
    if (!user || user.disabled_at || !(await this.users.signedIn(user))) throw authError('user_not_found')
    const client = clientOf(request, requestId)
    const { isNewDevice: _unused, ...session } = await this.sessions.begin(user.id, ['local'], client)
    await this.audit.record({
      event: 'session.issued_locally',
      actor: { type: 'service' },
      target: { type: 'user', id: user.id },
      sessionId: session.id,
      client,
    })
    return this.tokens.issue(user, session)
  }
}

/** `stack start` alone sets the binding. */
export function isLocalStack(): boolean {
  try {
    return Secrets.get('STACK_LOCAL') === 'true'
  } catch {
    return false
  }
}
