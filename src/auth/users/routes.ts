import { Controller, Delete, Get, OptionalUser, Req, RequestId, User, type UserT } from '@stack/backend'
import { Audit } from '../audit/rows.ts'
import { requireCaller } from '../shared/caller.ts'
import { clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { requireRecent } from '../shared/recent.ts'
import { type ShownUser, shown, Users } from './rows.ts'

/** The caller's own account. */
@Controller('/auth/user')
export class UsersController {
  constructor(
    private readonly audit: Audit,
    private readonly users: Users,
  ) {}

  /** Reads the account as the database has it now, because a token tells what was true when it was issued. Guests see theirs too. */
  @Get('', { auth: false })
  async read(@OptionalUser() caller: UserT | null): Promise<ShownUser> {
    const { id } = requireCaller(caller)
    const user = await this.users.byId(id)
    if (!user) throw authError('user_not_found', `there is no user "${id}"`)
    return shown(user)
  }

  /** Deletes the account with everything that belongs to it. Its tokens are refused from the next request on. */
  @Delete('', { auth: true })
  async remove(@User() { id }: UserT, @Req() request: Request, @RequestId() requestId: string): Promise<void> {
    await requireRecent()
    await this.users.remove(id)
    const actor = { type: 'user', id } as const
    await this.audit.record({
      event: 'user.deleted',
      actor,
      target: { type: 'user', id },
      client: clientOf(request, requestId),
    })
  }
}
