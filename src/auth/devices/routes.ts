import { Body, Controller, Delete, Get, OptionalUser, Param, Post, Req, RequestId, type UserT } from '@stack/backend'
import type * as v from 'valibot'
import type { DeviceApp } from '../../wire/device-apps.ts'
import type { Settings } from '../../wire/settings.ts'
import { Audit } from '../audit/rows.ts'
import { requireCaller } from '../shared/caller.ts'
import { clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { type Listed, whole } from '../shared/list.ts'
import { verifyAndroid } from './android.ts'
import { verifyApple } from './apple.ts'
import { challengeFault, issueChallenge } from './challenge.ts'
import { Enrolment } from './enrolment.ts'
import { appleRoots, googleRoots } from './roots.ts'
import { type Device, Devices } from './rows.ts'
import { challengeRequest, enrolment } from './schemas.ts'

/** A device as its owner sees it. */
type OwnDevice = Omit<Device, 'user_id' | 'revoked_at' | 'revoke_reason'>

/** The caller's own devices. Guests have some too: an upgrade keeps their id, and so their devices. */
@Controller('/auth/devices', { auth: false })
export class DevicesController {
  constructor(
    private readonly audit: Audit,
    private readonly devices: Devices,
    private readonly enrolment: Enrolment,
  ) {}

  /** A challenge for a new key. It serves this user, this application and this platform for 10 minutes. */
  @Post('challenge')
  async challenge(
    @Body(challengeRequest) { platform, application_key: applicationKey }: v.InferOutput<typeof challengeRequest>,
  ): Promise<{ challenge: string; expires_at: Date }> {
    const { userId, settings } = await this.enrolment.begin()
    if (platform === 'web') {
      throw authError('attestation_unavailable', 'a browser cannot attest the page that sends a request')
    }
    requireApp(settings, applicationKey, platform)
    return issueChallenge({ userId, applicationKey, platform })
  }

  /** Keeps the key that the attestation is of. Why an attestation is refused is told to the log and the audit trail alone. */
  @Post('', { status: 201 })
  async enrol(
    @Body(enrolment) { application_key: applicationKey, challenge, ...proof }: v.InferOutput<typeof enrolment>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): ReturnType<Enrolment['finish']> {
    const admitted = await this.enrolment.admit()
    const { userId, settings, environments } = admitted
    const platform = proof.attestation ? 'ios' : 'android'
    const app = requireApp(settings, applicationKey, platform)
    const attested = await this.enrolment.verified(async () => {
      const fault = await challengeFault(challenge, { userId, applicationKey, platform })
      if (fault) return { reason: fault }
      const now = Date.now()
      if (app.platform === 'ios') {
        return verifyApple({ attestation: proof.attestation!, challenge, app, environments, roots: appleRoots, now })
      }
      return verifyAndroid({ certificates: proof.certificates!, challenge, app, roots: googleRoots, now })
    })
    return this.enrolment.finish(admitted, { platform, applicationKey }, attested, clientOf(request, requestId))
  }

  @Get()
  async list(@OptionalUser() caller: UserT | null): Promise<Listed<OwnDevice>> {
    const devices = await this.devices.ofUser(requireCaller(caller).id)
    return whole(devices.map(({ user_id: _, revoked_at: __, revoke_reason: ___, ...own }) => own))
  }

  /** Removing a device again changes nothing. Another user's device is not found. */
  @Delete(':id')
  async remove(
    @Param('id') id: string,
    @OptionalUser() caller: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    const user = requireCaller(caller)
    const device = await this.devices.byId(id)
    if (device?.user_id !== user.id) throw authError('device_not_found', `there is no device "${id}"`)
    if (!(await this.devices.revoke(id, 'removed'))) return
    const actor = { type: 'user', id: user.id } as const
    const client = clientOf(request, requestId)
    await this.audit.record({
      event: 'device.revoked',
      reason: 'removed',
      actor,
      target: actor,
      client,
      details: { device: id },
    })
  }
}

/** @throws HttpError 400 `attestation_unavailable` where the settings do not have the application on that platform. */
export function requireApp(
  { device_apps = [] }: Settings,
  applicationKey: string,
  platform: DeviceApp['platform'],
): DeviceApp {
  const app = device_apps.find((one) => one.application_key === applicationKey && one.platform === platform)
  if (app) return app
  throw authError(
    'attestation_unavailable',
    `the setting device_apps has no application "${applicationKey}" for ${platform}`,
  )
}
