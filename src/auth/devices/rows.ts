import { Cron, Database, Injectable } from '@stack/backend'
import type { DeviceEnvironment, DeviceFacts, DevicePlatform, KeyStorage } from '../../wire/devices.ts'
import { newId } from '../../wire/ids.ts'
import { base64url } from '../shared/base64url.ts'
import type { Position } from '../shared/cursor.ts'
import { parameters } from '../shared/list.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import type { Attested } from './attested.ts'

/** Live devices of an account. One more revokes the device that was not seen for the longest time. */
const mostDevices = 20
/** Days that a revoked device is kept, for the person who asks why it was refused. */
const keptDays = 30

/** A device as its owner and the management surface see it. */
export interface Device {
  id: string
  user_id: string
  platform: DevicePlatform
  application_key: string
  environment: DeviceEnvironment
  /** SHA-256 of the public key's point, in base64url. */
  key_id: string
  /** The uncompressed point, in base64url: iOS shows it to no app. */
  public_key: string
  key_storage: KeyStorage
  /** Facts on the day of the attestation. */
  facts: DeviceFacts
  attested_at: Date
  /** To the day. */
  last_seen_at: Date
  revoked_at: Date | null
  revoke_reason: RevokeReason | null
}

export type RevokeReason = 'removed' | 'revoked' | 'too_many' | 'credentials_revoked' | 'chain_revoked'

/** A key that was attested for an application of a user. */
export interface Enrolled extends Attested {
  userId: string
  applicationKey: string
  platform: DevicePlatform
}

const columns = `id, user_id, platform, application_key, environment, key_id, public_key, key_storage, facts, attested_at, last_seen_at,
  revoked_at, revoke_reason`

@Injectable()
export class Devices {
  /** The worlds that devices of this database may come from. */
  async environments(sql: Sql): Promise<DeviceEnvironment[]> {
    const rows = await sql<{ environment: DeviceEnvironment }>`select environment from stack.device_environments`
    return rows.map(({ environment }) => environment)
  }

  /** Call it with the user locked, so that enrolments of one user follow each other. @returns `undefined` where the key is known. */
  async add({ keyId, point, rpIdHash, receipt, ...one }: Enrolled): Promise<Device | undefined> {
    const { userId, platform, applicationKey, environment, keyStorage, facts, chainSerials } = one
    const [added] = await inRequest<{ id: string }>`
      insert into auth.devices (id, user_id, platform, application_key, environment, key_id, public_key, rp_id_hash, key_storage, facts,
        receipt, chain_serials)
      values (${newId('dev_')}, ${userId}, ${platform}, ${applicationKey}, ${environment}, ${base64url(keyId)}, ${base64url(point)},
        ${rpIdHash && base64url(rpIdHash)}, ${keyStorage}, ${JSON.stringify(facts)}, ${receipt}, ${chainSerials}::text[])
      on conflict (key_id) do nothing returning id`
    return added && this.byId(added.id)
  }

  /** Revokes the live devices above the limit. @returns their ids. */
  async revokeSurplus(userId: string): Promise<string[]> {
    const rows = await inRequest<{ id: string }>`
      update auth.devices set revoked_at = now(), revoke_reason = 'too_many'
      where id in (select id from auth.devices where user_id = ${userId} and revoked_at is null
        order by last_seen_at desc, id desc offset ${mostDevices})
      returning id`
    return rows.map(({ id }) => id)
  }

  async byId(id: string): Promise<Device | undefined> {
    const [device] = await Database.$asService().query<Device>(`select ${columns} from auth.devices where id = $1`, [
      id,
    ])
    return device
  }

  async byKey(keyId: string): Promise<Device | undefined> {
    const [device] = await Database.$asService().query<Device>(
      `select ${columns} from auth.devices where key_id = $1`,
      [keyId],
    )
    return device
  }

  /** The live devices, the newest first. */
  ofUser(userId: string): Promise<Device[]> {
    return Database.$asService().query<Device>(
      `select ${columns} from auth.devices where user_id = $1 and revoked_at is null order by id desc`,
      [userId],
    )
  }

  /** Every device that is still kept, revoked ones too, the newest first. */
  allOf(userId: string, limit: number): Promise<Device[]> {
    return Database.$asService().query<Device>(
      `select ${columns} from auth.devices where user_id = $1 order by id desc limit $2`,
      [userId, limit],
    )
  }

  /** Devices of all users, revoked ones too, the newest first. */
  list(userId: string | undefined, limit: number, after: Position | undefined): Promise<Device[]> {
    const { values, bind } = parameters()
    const conditions = [
      'true',
      ...(userId === undefined ? [] : [`user_id = ${bind(userId)}`]),
      ...(after ? [`id < ${bind(after[0])}`] : []),
    ]
    return Database.$asService().query<Device>(
      `select ${columns} from auth.devices where ${conditions.join(' and ')} order by id desc limit ${bind(limit)}`,
      values,
    )
  }

  /** @returns whether it was live. */
  async revoke(id: string, reason: RevokeReason): Promise<boolean> {
    const rows = await inRequest`
      update auth.devices set revoked_at = now(), revoke_reason = ${reason} where id = ${id} and revoked_at is null returning id`
    return rows.length > 0
  }

  /** @returns how many were live. */
  async revokeAll(userId: string, reason: RevokeReason): Promise<number> {
    const rows = await inRequest`
      update auth.devices set revoked_at = now(), revoke_reason = ${reason}
      where user_id = ${userId} and revoked_at is null returning id`
    return rows.length
  }

  /** Forgets devices that were revoked long ago, each night. The audit trail has their entries. */
  @Cron('17 3 * * *')
  async forgetRevoked(): Promise<void> {
    await inRequest`delete from auth.devices where revoked_at < now() - make_interval(days => ${keptDays})`
  }

  /** Forgets nonces whose assertions are too old to be used again. */
  @Cron('5 * * * *')
  async forgetNonces(): Promise<void> {
    await inRequest`delete from auth.device_nonces where expires_at < now()`
  }
}
