/** The one rule in force for a route: the most specific level that declared one, whole (contract 4.3). */
import type { Gate } from '../runtime/table.ts'
import {
  type ClassDeclaration,
  type Decorator,
  decoratorOf,
  option,
  type Span,
  type StaticValue,
  text,
} from './declaration.ts'

export interface ResolvedGate {
  gate: Gate
  /** Where the rule stands; `undefined` for the default. */
  place: Span | undefined
}

/** @param route the decorator of this very route: a method may carry several, each with its own rule. */
export function resolveGate(
  root: ClassDeclaration | undefined,
  controller: ClassDeclaration,
  route: Decorator,
): ResolvedGate {
  const levels = [
    ['route', ruleOf(route, 1)],
    ['controller', ruleOf(decoratorOf(controller, 'Controller'), 1)],
    ['application', root && ruleOf(decoratorOf(root, 'Module'), 0)],
  ] as const
  for (const [decidedBy, rule] of levels) {
    if (rule) return { gate: { ...gateOf(rule), decidedBy }, place: rule.place }
  }
  return { gate: { required: true, decidedBy: 'default' }, place: undefined }
}

/** The `auth` option of a decorator; `auth: undefined` declares nothing. */
export function ruleOf(decorator: Decorator | undefined, argument: number): StaticValue | undefined {
  return option(decorator?.arguments[argument], 'auth')
}

/** Only `false` and `{ required: false }` do not require a user. */
function gateOf(rule: StaticValue): Omit<Gate, 'decidedBy'> {
  if (rule.kind !== 'record') return { required: !(rule.kind === 'literal' && rule.value === false) }
  const required = option(rule, 'required')
  const role = text(option(rule, 'role'))
  const permission = text(option(rule, 'permission'))
  const verifiedEmail = option(rule, 'verifiedEmail')
  const device = option(rule, 'device')
  const isOnce = device?.kind === 'literal' && device.value === 'once'
  const serviceRole = serviceRoleOf(rule)
  return {
    required: !(required?.kind === 'literal' && required.value === false),
    ...(role === undefined ? {} : { role }),
    ...(permission === undefined ? {} : { permission }),
    ...(verifiedEmail?.kind === 'literal' && verifiedEmail.value === true ? { verifiedEmail: true as const } : {}),
    ...(isOnce ? { device: 'once' as const } : {}),
    ...(device?.kind === 'literal' && device.value === true ? { device: true as const } : {}),
    ...(serviceRole === undefined ? {} : { serviceRole }),
  }
}

/** The rule of a route that administers the stack (contract 4.6). */
function serviceRoleOf(rule: StaticValue): Gate['serviceRole'] {
  const declared = option(rule, 'serviceRole')
  if (declared?.kind !== 'literal') return undefined
  return declared.value === true || declared.value === 'key' ? declared.value : undefined
}
