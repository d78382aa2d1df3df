import { Body, Controller, Database, Param, Post, Req, RequestId } from '@stack/backend'
import type * as v from 'valibot'
import { Sessions } from '../sessions/rows.ts'
import { clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { requireRecent } from '../shared/recent.ts'
import { requireConfirmed, Users } from '../users/rows.ts'
import { Beginning } from './beginning.ts'
import { requireProvider } from './endpoints.ts'
import { linkBody } from './schemas.ts'

/** Adds an identity to the caller's account. `POST /auth/oauth/exchange` completes it, with the caller's token. */
@Controller('/auth/identities', { auth: true })
export class LinkController {
  constructor(
    private readonly beginning: Beginning,
    private readonly sessions: Sessions,
    private readonly users: Users,
  ) {}

  @Post(':provider/start')
  async link(
    @Param('provider') name: string,
    @Body(linkBody) body: v.InferOutput<typeof linkBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ url: string }> {
    const { id } = await Database.$apart(async (sql) => {
      await requireRecent(sql)
      const caller = await this.sessions.caller(sql)
      const user = await this.users.byId(caller.id, sql)
      if (user) requireConfirmed(user)
      return caller
    })
    const url = await this.beginning.begin(requireProvider(name), body, clientOf(request, requestId), id)
    if (url === undefined) throw authError('provider_failed')
    return { url }
  }
}
