import { Database, type HttpError, Injectable, Log } from '@stack/backend'
import type { DeviceEnvironment, DevicePlatform } from '../../wire/devices.ts'
import type { Settings } from '../../wire/settings.ts'
import { Audit } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { Sessions } from '../sessions/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import { base64url } from '../shared/base64url.ts'
import type { ClientInfo } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { inRequest } from '../shared/sql.ts'
import { Users } from '../users/rows.ts'
import type { Attested } from './attested.ts'
import type { Refused } from './chain.ts'
import { Revocations } from './revocations.ts'
import { type Device, Devices } from './rows.ts'

/** The facts that an enrolment relies on. */
export interface Admitted {
  userId: string
  settings: Settings
  environments: DeviceEnvironment[]
}

/** A new device as its app learns of it. */
interface EnrolledDevice {
  id: string
  key_id: string
  /** The app must keep it: iOS never shows the key, and every assertion names it. */
  public_key: string
  environment: DeviceEnvironment
  attested_at: Date
  /** The app signs with this clock, because devices' own clocks are wrong. */
  server_time: Date
}

@Injectable()
export class Enrolment {
  constructor(
    private readonly audit: Audit,
    private readonly devices: Devices,
    private readonly limits: Limits,
    private readonly revocations: Revocations,
    private readonly sessions: Sessions,
    private readonly settings: SettingsRows,
    private readonly users: Users,
  ) {}

  /** The caller, guests too, and the settings. No connection is held afterwards. @throws HttpError 401 */
  async begin(): Promise<{ userId: string; settings: Settings }> {
    return Database.$apart(async (sql) => {
      const { id: userId } = await this.sessions.caller(sql)
      const { document: settings } = await this.settings.read(sql)
      return { userId, settings }
    })
  }

  /** Counts an enrolment of the caller. @throws HttpError 401, or 429 `rate_limited` */
  async admit(): Promise<Admitted> {
    const { refused, ...admitted } = await Database.$apart(async (sql) => {
      const { id: userId } = await this.sessions.caller(sql)
      const { document: settings } = await this.settings.read(sql)
      const refused = await this.limits.take(sql, 'device_enrolment_per_user', userId, settings)
      return { userId, settings, environments: await this.devices.environments(sql), refused }
    })
    if (refused) throw refused
    return admitted
  }

  /**
   * Runs a verification. Input that is malformed throws in it, and is refused like input that proves nothing.
   */
  async verified(verify: () => Promise<Attested | Refused>): Promise<Attested | Refused> {
    try {
      return await verify()
    } catch (error) {
      return {
        reason: `malformed: ${error instanceof Error ? error.message : 'a thrown value that is no error'}`.slice(
          0,
          200,
        ),
      }
    }
  }

  /**
   * Keeps a key that was attested, or says that it was refused.
   * @returns 201, or 200 for the same key of the same user. Refusals are returned and not thrown: their entry is committed.
   * @throws HttpError 409 `device_key_taken`, 503 `unavailable`
   */
  async finish(
    { userId }: Admitted,
    { platform, applicationKey }: { platform: DevicePlatform; applicationKey: string },
    attested: Attested | Refused,
    client: ClientInfo,
  ): Promise<JsonResponse<ReturnType<typeof shown>> | HttpError> {
    const about = { userId, platform, applicationKey, client }
    if ('reason' in attested) return this.refuse(about, attested.reason)
    if (attested.chainSerials.length > 0 && platform === 'android') await this.revocations.refresh()
    await this.users.hold(userId)
    if (platform === 'android' && (await this.revocations.isAnyRevoked(attested.chainSerials)))
      return this.refuse(about, 'chain_revoked')
    const added = await this.devices.add({ ...attested, userId, platform, applicationKey })
    if (!added) return this.again(about, base64url(attested.keyId))
    const surplus = await this.devices.revokeSurplus(userId)
    const details = {
      platform,
      application_key: applicationKey,
      environment: added.environment,
      key_storage: added.key_storage,
    }
    await this.note('device.enrolled', about, added.id, { details })
    for (const id of surplus) await this.note('device.revoked', about, id, { reason: 'too_many' })
    return jsonResponse(shown(added), { status: 201 })
  }

  /** The key is known: the same user gets the same answer again, because the first one may be lost. */
  private async again(about: About, keyId: string): Promise<JsonResponse<ReturnType<typeof shown>> | HttpError> {
    const known = await this.devices.byKey(keyId)
    if (known?.user_id !== about.userId) throw authError('device_key_taken')
    // a challenge lives for ten minutes, in which a device that was removed must not come back with the same attestation
    if (known.revoked_at) return this.refuse(about, 'key_revoked')
    return jsonResponse(shown(known), {})
  }

  private async refuse(about: About, reason: string): Promise<HttpError> {
    const { userId, platform, applicationKey, client } = about
    Log.warn('the attestation of a device was refused', { reason, platform, application_key: applicationKey })
    const actor = { type: 'user', id: userId } as const
    const details = { platform, application_key: applicationKey }
    await this.audit.record(
      { event: 'device.refused', outcome: 'failure', reason, actor, target: actor, client, details },
      inRequest,
    )
    return authError('attestation_refused')
  }

  private note(
    event: 'device.enrolled' | 'device.revoked',
    { userId, client }: About,
    id: string,
    more: { reason?: string; details?: Record<string, unknown> },
  ): Promise<void> {
    const actor = { type: 'user', id: userId } as const
    const details = { ...more.details, device: id }
    return this.audit.record({ event, actor, target: { type: 'user', id: userId }, client, ...more, details })
  }
}

interface About {
  userId: string
  platform: DevicePlatform
  applicationKey: string
  client: ClientInfo
}

function shown({ id, key_id, public_key, environment, attested_at }: Device): EnrolledDevice {
  return { id, key_id, public_key, environment, attested_at, server_time: new Date() }
}
