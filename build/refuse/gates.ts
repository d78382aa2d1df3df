/** Checks rules: they are well-formed at every level, and agree with the injectors of the handler. */

import { longestAssertedBody } from '../../src/wire/device-assertion.ts'
import { nearest } from '../../src/wire/nearest.ts'
import { covers, permission } from '../../src/wire/permissions.ts'
import type { Application } from '../application.ts'
import {
  decoratorOf,
  type HandlerParameter,
  hasRole,
  option,
  type Relation,
  type Span,
  type StaticValue,
  text,
} from '../declaration.ts'
import { type ResolvedGate, resolveGate, ruleOf } from '../gates.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { type DeclaredRoute, routesOf } from '../routes.ts'
import { describe } from '../values.ts'
import type { BuildContext } from './context.ts'
import { once } from './once.ts'
import { checkForm, type Form } from './options.ts'

const rule: Form = {
  is: 'record',
  isStrict: true, // `role: undefined` would let every signed-in user in
  keys: {
    required: { is: 'boolean' },
    role: { is: 'string' },
    permission: { is: 'string' },
    verifiedEmail: { is: 'boolean' },
    device: { is: 'one of', values: [true, 'once'] },
  },
}

/** The rule of routes that administer the stack stands alone: no role and no permission adds to it. */
const managementRule: Form = {
  is: 'record',
  isStrict: true,
  keys: { serviceRole: { is: 'one of', values: [true, 'key'] } },
}

export function checkGates(application: Application, context: BuildContext): Refusal<Span>[] {
  const { classes, policyCalls, relations } = application.declarations
  return [
    ...classes.flatMap((declaration) => checkClass(declaration, application, context)),
    ...policyCalls.map(({ name, place }) => refusal('policy-call-per-row', place, { name })),
    ...relations.flatMap(checkRelation),
  ]
}

/** A relation that users reach must guard its rows, or a comment on it must say that it is public (contract 5.5). */
function checkRelation({ name, kind, place, granted, isPublic, ...relation }: Relation): Refusal<Span>[] {
  if (!granted || isPublic) return []
  const { to } = granted
  const related = [{ message: `the ${kind} is created here`, place }]
  if (kind === 'table') {
    return relation.hasRowSecurity ? [] : [refusal('table-without-row-security', granted.place, { name, to }, related)]
  }
  return relation.runsAsOwner ? [refusal('view-runs-as-owner', granted.place, { name, kind, to }, related)] : []
}

const checkClass = once((declaration, application, context) => {
  const refused = checkRule(ruleOf(decoratorOf(declaration, 'Module'), 0), context)
  if (!hasRole(declaration, 'Controller')) return refused
  refused.push(...checkRule(ruleOf(decoratorOf(declaration, 'Controller'), 1), context))
  for (const route of routesOf(declaration)) {
    const { member, decorator } = route
    refused.push(...checkRule(ruleOf(decorator, 1), context))
    const resolved = resolveGate(application.roots[0], declaration, decorator)
    refused.push(...checkAdministered(route, resolved, context), ...checkAsserted(route, resolved))
    for (const parameter of member.parameters) {
      for (const { name, place } of parameter.decorators) {
        refused.push(...checkInjected(name, place, resolved))
        if (member.decorators[0] === decorator) refused.push(...checkType(name, parameter))
      }
    }
  }
  return refused
})

/** A parameter without a type, or with `any`, claims nothing that could be wrong. */
function checkType(name: string, { type, typeNames, typePlace }: HandlerParameter): Refusal<Span>[] {
  const isOpen = type === '' || typeNames.includes('any') || typeNames.includes('unknown') || type.startsWith('{')
  if (isOpen || (name !== 'User' && name !== 'OptionalUser')) return []
  if (!typeNames.includes('UserT')) return [refusal('user-type-mismatch', typePlace, { type })]
  const isNullable = typeNames.includes('null')
  return name === 'OptionalUser' && !isNullable ? [refusal('optional-user-not-nullable', typePlace, { type })] : []
}

function checkInjected(name: string, place: Span, { gate, place: decided }: ResolvedGate): Refusal<Span>[] {
  const decidedBy = {
    route: 'the route itself says so',
    controller: 'its controller says so',
    application: 'the application default says so',
    default: 'every route does unless it opts out',
  }[gate.decidedBy]
  const related = decided ? [{ message: 'this rule decides', place: decided }] : []
  const mayBeAbsent = !gate.required || gate.serviceRole !== undefined // the service-role key names no user
  if (name === 'User' && mayBeAbsent) {
    const isGated = asksOfUser(gate)
    return [refusal('user-on-public-route', place, { decidedBy, isGated }, related)]
  }
  if (name === 'OptionalUser' && !mayBeAbsent) {
    return [refusal('optional-user-on-required-route', place, { decidedBy }, related)]
  }
  return []
}

/** Whether a rule asks for more than a user, so that no anonymous caller passes it. */
function asksOfUser({ role, permission, verifiedEmail, device }: ResolvedGate['gate']): boolean {
  return role !== undefined || permission !== undefined || verifiedEmail === true || device !== undefined
}

/** A device signs the digest of the whole body, and the runtime holds 1 MiB of it at most. */
function checkAsserted(route: DeclaredRoute, { gate, place: decided }: ResolvedGate): Refusal<Span>[] {
  const options = [route.decorator.arguments[1], decoratorOf(route.controller, 'Controller')?.arguments[1]]
  const limit = options.map((from) => option(from, 'maxBodyBytes')).find((one) => one !== undefined)
  if (gate.device === undefined || limit?.kind !== 'literal' || typeof limit.value !== 'number') return []
  if (limit.value <= longestAssertedBody) return []
  const related = decided ? [{ message: 'this rule decides', place: decided }] : []
  return [refusal('device-body-unsigned', limit.place, { limit: limit.value, longest: longestAssertedBody }, related)]
}

/** A route below an administered path without the rule would be an open door (contract 4.6). */
function checkAdministered(
  { method, path, decorator }: DeclaredRoute,
  { gate, place: decided }: ResolvedGate,
  { administered = [] }: BuildContext,
): Refusal<Span>[] {
  const below = administered.find((prefix) => path === prefix || path?.startsWith(`${prefix}/`))
  if (below === undefined || gate.serviceRole !== undefined) return []
  const related = decided ? [{ message: 'this rule decides', place: decided }] : []
  return [refusal('management-route-unguarded', decorator.place, { route: `${method} ${path}`, below }, related)]
}

function checkRule(fact: StaticValue | undefined, { roles, administered }: BuildContext): Refusal<Span>[] {
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
  const serviceRole = option(fact, 'serviceRole')
  if (serviceRole) {
    return administered
      ? checkForm(fact, managementRule, '"auth" with serviceRole')
      : [refusal('service-role-in-project', serviceRole.place, {})]
  }
  const refused = checkForm(fact, rule, '"auth"')
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
  if (opensUp && (asked || role || asksForVerified || option(fact, 'device'))) {
    refused.push(refusal('gate-never-admits-anonymous', required.place, {}))
  }
  return refused
}
