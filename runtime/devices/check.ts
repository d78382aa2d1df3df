/**
 * The device of a request: the attested device that has signed the header `Device-Assertion`. The signature is verified before any
 * connection is opened, by code that is loaded with the first such request. The database then says whose key it is, in the read that
 * brings the grants. A failure is never an error: the request has no device, and the log has the reason.
 */
import { httpError } from '../../src/sdk/errors.ts'
import type { AttestedDevice } from '../../src/sdk/user.ts'
import { deviceAssertionHeader } from '../../src/wire/device-assertion.ts'
import type { Call } from '../call.ts'
import type { AskedDevice, DeviceProof, FoundDevice } from '../database/asked-device.ts'
import type { createRequestDatabase, RequestDatabase } from '../database/transaction.ts'
import type { Identity } from '../identity/identify.ts'
import { errorFields } from '../log.ts'
import type { Route, RouteTable } from '../table.ts'
import { noDevice } from './reasons.ts'

/** The bytes that an assertion covers. */
export type AssertedBody = Uint8Array | 'too large'

/** The steps by which a request gets its device, one after another. */
export interface DeviceCheck {
  /**
   * Verifies the signature. @param body the bytes that it covers.
   * @returns what the database is asked about. @throws HttpError 403 `device_required` where the rule asks for a device.
   */
  prove(body: AssertedBody): Promise<AskedDevice | undefined>
  /** @param found read in the request's transaction. @throws HttpError 403 `device_required` where the rule asks for a device. */
  resultOf(found: FoundDevice): AttestedDevice | null
}

/**
 * @param open opens a transaction of the caller beside that of the request.
 * @returns `undefined` where neither the rule nor the handler asks for a device, or where the request has no assertion.
 * @throws HttpError 403 `device_required`
 */
export function beginCheck(
  call: Call,
  route: Route,
  identity: Identity | null,
  open: typeof createRequestDatabase,
  roles: RouteTable['databaseRoles'],
): DeviceCheck | undefined {
  const { device: gate } = route.gate
  const isTaken = gate !== undefined || route.parameters.some(({ from }) => from === 'user' || from === 'optionalUser')
  if (!identity || !isTaken) return undefined
  const required = <T>(device: T | null): T | null => {
    if (gate !== undefined && device === null) throw httpError('device_required')
    return device
  }
  if (!call.request.headers.has(deviceAssertionHeader)) {
    if (gate !== undefined) required(noDevice(call, 'missing'))
    return undefined
  }
  let verification: typeof import('./proof.ts') | undefined
  let proof: DeviceProof | null = null
  return {
    async prove(body) {
      verification = await import('./proof.ts')
      proof = required(await verification.proveDevice(call, body))
      return proof ? { proof, isOnce: gate === 'once' } : undefined
    },
    resultOf({ device: row = null, isClaimed }) {
      const device = required(proof && verification!.deviceOf(call, proof, row, isClaimed))
      if (device && row!.is_unseen) call.waitUntil(seeDevice(call, open(call, roles, identity), proof!.keyId))
      return device
    },
  }
}

/** Notes that a device was seen: once a day, in a transaction of its own, so that the request itself writes nothing. */
async function seeDevice(call: Call, database: RequestDatabase, keyId: string): Promise<void> {
  try {
    await database.caller.query('select auth.see_device($1)', [keyId])
    await database.commit()
  } catch (error) {
    call.log('warn', 'a device could not be marked as seen', errorFields(error))
    await database.rollback()
  }
}
