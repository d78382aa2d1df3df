/** Whether a caller may enter a route: first what the claims alone can refuse, then what the grants say (contract 4.1). */
import { httpError } from '../src/sdk/errors.ts'
import { covers } from '../src/wire/permissions.ts'
import { type Grants, noGrants } from './database/grants.ts'
import { type Identity, isSignedIn } from './identity/identify.ts'
import type { Gate } from './table.ts'

/** @throws HttpError 401, or 403 where the rule lets anonymous callers in but asks for more than they can have (4.5). */
export function gateByClaims(gate: Gate, identity: Identity | null): void {
  if (gate.serviceRole !== undefined) {
    gateOperator(gate.serviceRole, identity)
    return
  }
  if (!isSignedIn(identity)) {
    if (gate.required) throw httpError('unauthorized')
    gateByGrants(gate, noGrants)
    if (gate.device) throw httpError('device_required')
  }
  const isVerified = isSignedIn(identity) && identity.claims['email_verified'] === true
  if (gate.verifiedEmail && !isVerified) throw httpError('email_not_verified')
}

/** The same answer for every request without the key (contract 9.7). */
export const serviceRoleRequired = () => httpError('unauthorized', 'the service-role key is required')

const mayNotAdminister = () => httpError('forbidden', 'this credential may not administer the stack')

/** A request without the service-role key. @throws HttpError 401 without a valid token, 403 for a token that is no operator's. */
function gateOperator(admitted: true | 'key', identity: Identity | null): void {
  if (identity === null) throw serviceRoleRequired()
  const isOperator = isSignedIn(identity) && identity.claims['management'] === true
  if (admitted === 'key' || !isOperator) throw mayNotAdminister()
}

/** @throws HttpError 403 naming what is missing (4.2). */
export function gateByGrants(gate: Gate, grants: Grants): void {
  // the token names an operator, and the list of operators may have changed since it was issued
  if (gate.serviceRole !== undefined && !grants.operator) throw mayNotAdminister()
  if (gate.role !== undefined && !grants.roles.includes(gate.role)) {
    throw httpError('forbidden', `this route requires the role "${gate.role}"`)
  }
  const { permission } = gate
  if (permission !== undefined && !grants.permissions.some((held) => covers(held, permission))) {
    throw httpError('forbidden', `this route requires the permission "${permission}"`)
  }
}
