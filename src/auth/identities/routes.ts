import { Controller, Delete, Get, Param, Req, RequestId, User, type UserT } from '@stack/backend'
import { Audit } from '../audit/rows.ts'
import { Notices } from '../mail/notices.ts'
import { SettingsRows } from '../settings/rows.ts'
import { clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { type Listed, whole } from '../shared/list.ts'
import { requireRecent } from '../shared/recent.ts'
import { requireWayIn } from '../shared/ways-in.ts'
import { Users } from '../users/rows.ts'
import { relyingParty } from '../webauthn/relying-party.ts'
import { Identities, type Identity, titleOf } from './rows.ts'

/** The caller's own identities. `POST /auth/identities/<provider>/start` adds one. */
@Controller('/auth/identities', { auth: true })
export class IdentitiesController {
  constructor(
    private readonly audit: Audit,
    private readonly identities: Identities,
    private readonly notices: Notices,
    private readonly settings: SettingsRows,
    private readonly users: Users,
  ) {}

  @Get()
  async list(@User() { id }: UserT): Promise<Listed<Identity>> {
    return whole(await this.identities.ofUser(id))
  }

  /** Removes one of them. The last way into the account stays. */
  @Delete(':provider/:id')
  async remove(
    @Param('provider') provider: string,
    @Param('id') subject: string,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    await requireRecent()
    const user = await this.users.lock(id) // before the identity, as a sign-in does: else the two may wait for each other
    if (!(await this.identities.remove(id, provider, subject))) throw authError('identity_not_found')
    await requireWayIn(id, relyingParty((await this.settings.read()).document).id)
    const client = clientOf(request, requestId)
    await this.audit.record({
      event: 'identity.unlinked',
      actor: { type: 'user', id },
      target: { type: 'user', id },
      client,
      details: { provider },
    })
    if (user) await this.notices.toUser(user, 'identity_unlinked', client, { provider_name: titleOf(provider) })
  }
}
