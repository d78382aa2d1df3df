/** Rules: well-formed at every level, and in accord with what the handler injects. */

import { nearest } from '../../src/wire/nearest.ts'
import { covers, permission } from '../../src/wire/permissions.ts'
import type { DeclaredRole } from '../../src/wire/project.ts'
import type { Application } from '../application.ts'
import {
  type Fact,
  type HandlerParameter,
  hasRole,
  markOf,
  option,
  type Place,
  type Relation,
  text,
} from '../declaration.ts'
import { type ResolvedGate, resolveGate, ruleOf } from '../gates.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { routesOf } from '../routes.ts'
import { describe } from '../values.ts'
import type { Circumstances } from './index.ts'
import { once } from './once.ts'
import { type Form, refuseForm } from './options.ts'

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

export function refuseGates(application: Application, circumstances: Circumstances): Refusal<Place>[] {
  const { classes, policyCalls, relations } = application.declarations
  return [
    ...classes.flatMap((declaration) => refuseClass(declaration, application, circumstances)),
    ...policyCalls.map(({ name, place }) => refusal('policy-call-per-row', place, { name })),
    ...relations.flatMap(refuseRelation),
  ]
}

/** What users may reach shows them their own rows alone, or is said to be public (contract 5.5). */
function refuseRelation({ name, kind, place, granted, isPublic, ...relation }: Relation): Refusal<Place>[] {
  if (!granted || isPublic) return []
  const { to } = granted
  const related = [{ message: `the ${kind} is created here`, place }]
  if (kind === 'table') {
    return relation.hasRowSecurity ? [] : [refusal('table-without-row-security', granted.place, { name, to }, related)]
  }
  return relation.runsAsOwner ? [refusal('view-runs-as-owner', granted.place, { name, kind, to }, related)] : []
}

const refuseClass = once((declaration, application, { roles }) => {
  const refused = refuseRule(ruleOf(markOf(declaration, 'Module'), 0), roles)
  if (!hasRole(declaration, 'Controller')) return refused
  refused.push(...refuseRule(ruleOf(markOf(declaration, 'Controller'), 1), roles))
  for (const { member, mark } of routesOf(declaration)) {
    refused.push(...refuseRule(ruleOf(mark, 1), roles))
    const resolved = resolveGate(application.roots[0], declaration, mark)
    for (const parameter of member.parameters) {
      for (const { name, place } of parameter.marks) {
        refused.push(...refuseInjected(name, place, resolved))
        if (member.marks[0] === mark) refused.push(...refuseType(name, parameter))
      }
    }
  }
  return refused
})

/** A parameter without a type is nobody's claim. */
function refuseType(name: string, { type, typeNames, typePlace }: HandlerParameter): Refusal<Place>[] {
  const isOpen = type === '' || typeNames.includes('any') || typeNames.includes('unknown') || type.startsWith('{')
  if (isOpen || (name !== 'User' && name !== 'OptionalUser')) return []
  if (!typeNames.includes('UserT')) return [refusal('user-type-mismatch', typePlace, { type })]
  const isNullable = typeNames.includes('null')
  return name === 'OptionalUser' && !isNullable ? [refusal('optional-user-not-nullable', typePlace, { type })] : []
}

function refuseInjected(name: string, place: Place, { gate, place: decided }: ResolvedGate): Refusal<Place>[] {
  const decidedBy = {
    route: 'the route itself says so',
    controller: 'its controller says so',
    application: 'the application default says so',
    default: 'every route does unless it opts out',
  }[gate.decidedBy]
  const related = decided ? [{ message: 'this rule decides', place: decided }] : []
  if (name === 'User' && !gate.required) {
    const isGated = gate.role !== undefined || gate.permission !== undefined || gate.verifiedEmail === true
    return [refusal('user-on-public-route', place, { decidedBy, isGated }, related)]
  }
  if (name === 'OptionalUser' && gate.required) {
    return [refusal('optional-user-on-required-route', place, { decidedBy }, related)]
  }
  return []
}

function refuseRule(fact: Fact | undefined, roles: readonly DeclaredRole[]): Refusal<Place>[] {
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
  } else if (value !== undefined) {
    const granted = [...new Set(roles.flatMap(({ permissions }) => permissions))]
    if (!granted.some((held) => covers(held, value))) {
      const near = nearest(value, granted)
      refused.push(refusal('permission-unknown', asked!.place, { permission: value, granted, near }))
    }
  }
  const role = option(fact, 'role')
  const name = text(role)
  const declared = roles.map((one) => one.name)
  if (name !== undefined && !declared.includes(name)) {
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
