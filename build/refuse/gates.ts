/** Rules: well-formed at every level, and in accord with what the handler injects. */

import { nearest } from '../../src/wire/nearest.ts'
import { permission } from '../../src/wire/permissions.ts'
import type { Application } from '../application.ts'
import { type Fact, hasRole, markOf, option, type Place, text } from '../declaration.ts'
import { type ResolvedGate, resolveGate, ruleOf } from '../gates.ts'
import { type Refusal, refusal } from '../refusals.ts'
import { routesOf } from '../routes.ts'
import type { Circumstances } from './index.ts'
import { describe, type Form, refuseForm } from './options.ts'

const rule: Form = {
  is: 'record',
  isStrict: true, // `role: undefined` would silently mean: whoever is signed in
  keys: {
    required: { is: 'boolean' },
    role: { is: 'string' },
    permission: { is: 'string' },
    verifiedEmail: { is: 'boolean' },
  },
}

export function refuseGates({ declarations, roots }: Application, { roles }: Circumstances): Refusal[] {
  const refused: Refusal[] = []
  for (const declaration of declarations.classes) {
    refused.push(...refuseRule(ruleOf(markOf(declaration, 'Module'), 0), roles))
    if (!hasRole(declaration, 'Controller')) continue
    refused.push(...refuseRule(ruleOf(markOf(declaration, 'Controller'), 1), roles))
    for (const { member, mark } of routesOf(declaration)) {
      refused.push(...refuseRule(ruleOf(mark, 1), roles))
      const resolved = resolveGate(roots[0], declaration, mark)
      for (const { marks } of member.parameters) {
        for (const { name, place } of marks) refused.push(...refuseInjected(name, place, resolved))
      }
    }
  }
  return refused
}

function refuseInjected(name: string, place: Place, { gate, place: decided }: ResolvedGate): Refusal[] {
  const decidedBy = {
    route: 'the route itself says so',
    controller: 'its controller says so',
    application: 'the application default says so',
    default: 'every route does unless it opts out',
  }[gate.decidedBy]
  const related = decided ? [{ message: 'this rule decides', place: decided }] : []
  if (name === 'User' && !gate.required) return [refusal('user-on-public-route', place, { decidedBy }, related)]
  if (name === 'OptionalUser' && gate.required) {
    return [refusal('optional-user-on-required-route', place, { decidedBy }, related)]
  }
  return []
}

function refuseRule(fact: Fact | undefined, roles: readonly string[]): Refusal[] {
  if (!fact || (fact.kind === 'literal' && typeof fact.value === 'boolean')) return []
  if (fact.kind === 'literal' || fact.kind === 'list' || fact.kind === 'class') {
    return [
      refusal('option-malformed', fact.place, {
        what: '"auth"',
        expected: "true, false or a rule like { role: 'staff' }",
        found: describe(fact),
      }),
    ]
  }
  const refused = refuseForm(fact, rule, '"auth"')
  const asked = option(fact, 'permission')
  const value = text(asked)
  if (value !== undefined && !permission.test(value)) {
    refused.push(refusal('permission-malformed', asked!.place, { permission: value }))
  }
  const role = option(fact, 'role')
  const name = text(role)
  if (name !== undefined && !roles.includes(name)) {
    const declared = [...roles]
    refused.push(refusal('role-unknown', role!.place, { role: name, declared, near: nearest(name, declared) }))
  }
  const required = option(fact, 'required')
  const opensUp = required?.kind === 'literal' && required.value === false
  const verifiedEmail = option(fact, 'verifiedEmail')
  const asksForVerified = verifiedEmail?.kind === 'literal' && verifiedEmail.value === true
  if (opensUp && (asked || role || asksForVerified)) {
    refused.push(refusal('gate-never-admits-anonymous', required.place, {}))
  }
  return refused
}
