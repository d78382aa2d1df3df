import { Controller, Delete, Get, OptionalUser, Param, Query, Req, RequestId, type UserT } from '@stack/backend'
import { Audit, administering } from '../audit/rows.ts'
import { authError } from '../shared/errors.ts'
import { type Listed, pageOf } from '../shared/list.ts'
import { type Device, Devices } from './rows.ts'

/** The devices of all users. A device that is revoked counts for nothing on the next request. */
@Controller('/v1/management/auth/devices', { auth: { serviceRole: true } })
export class AdministeredDevicesController {
  constructor(
    private readonly audit: Audit,
    private readonly devices: Devices,
  ) {}

  /** The newest first, revoked ones too. */
  @Get()
  async listAll(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('user_id') user_id: string | undefined,
  ): Promise<Listed<Device>> {
    const page = await pageOf('devices', { limit, cursor }, { user_id })
    const rows = await this.devices.list(user_id, page.limit + 1, page.after)
    return page.of(rows, ({ id }) => [id])
  }

  /** Revokes the device and answers it. Revoking it again changes nothing and answers the same. */
  @Delete(':id')
  async revoke(
    @Param('id') id: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Device> {
    const wasLive = await this.devices.revoke(id, 'revoked')
    const device = await this.devices.byId(id)
    if (!device) throw authError('device_not_found', `there is no device "${id}"`)
    if (wasLive) {
      await this.audit.record({
        event: 'device.revoked',
        reason: 'revoked',
        ...administering(operator, request, requestId),
        target: { type: 'user', id: device.user_id },
        details: { device: id },
      })
    }
    return device
  }
}
