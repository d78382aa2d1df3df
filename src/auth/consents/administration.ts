import { Controller, Get, Param } from '@stack/backend'
import { type Listed, whole } from '../shared/list.ts'
import { Users } from '../users/rows.ts'
import { Consents, type RecordedConsent } from './rows.ts'

/** The consents of any user. */
@Controller('/v1/management/auth/users/:id/consents', { auth: { serviceRole: true } })
export class AdministeredConsentsController {
  constructor(
    private readonly consents: Consents,
    private readonly users: Users,
  ) {}

  /** All of them, the newest first, also those that were withdrawn. */
  @Get()
  async listOf(@Param('id') id: string): Promise<Listed<RecordedConsent>> {
    await this.users.require(id)
    return whole(await this.consents.recordedOf(id))
  }
}
