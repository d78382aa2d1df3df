/** Whether a caller may enter a route: first what the claims alone can refuse, then what the grants say (contract 4.1). */
import { httpError } from '../src/sdk/errors.ts'
import { covers } from '../src/wire/permissions.ts'
import type { Grants } from './database/bind.ts'
import { type Identity, isSignedIn } from './identity/identify.ts'
import type { Gate } from './table.ts'

/** @throws HttpError 401, or 403 where the rule lets anonymous callers in but asks for more than they can have (4.5). */
export function gateByClaims(gate: Gate, identity: Identity | null): void {
  if (!isSignedIn(identity)) {
    if (gate.required) throw httpError('unauthorized')
    gateByGrants(gate, { roles: [], permissions: [] })
  }
  const isVerified = isSignedIn(identity) && identity.claims['email_verified'] === true
  if (gate.verifiedEmail && !isVerified) throw httpError('email_not_verified')
}

/** @throws HttpError 403 naming what is missing (4.2). */
export function gateByGrants(gate: Gate, grants: Grants): void {
  if (gate.role !== undefined && !grants.roles.includes(gate.role)) {
    throw httpError('forbidden', `this route requires the role "${gate.role}"`)
  }
  const { permission } = gate
  if (permission !== undefined && !grants.permissions.some((held) => covers(held, permission))) {
    throw httpError('forbidden', `this route requires the permission "${permission}"`)
  }
}
