/** Gates, by every form of rule and every kind of caller (contract 4). */
import { describe, expect, it } from 'vitest'
import { noGrants } from '../../runtime/database/grants.ts'
import { gateByClaims, gateByGrants } from '../../runtime/gates.ts'
import type { Identity } from '../../runtime/identity/identify.ts'
import type { Gate } from '../../runtime/table.ts'
import type { HttpError } from '../../src/sdk/errors.ts'

function identity(role: Identity['role'], claims: Record<string, unknown> = {}): Identity {
  return { role, claims: { sub: 'usr_1', exp: 0, ...claims } }
}

const callers = {
  nobody: null,
  'an anonymous session': identity('anon'),
  'an anonymous session that claims a verified address': identity('anon', { email_verified: true }),
  user: identity('authenticated', { email_verified: false }),
  'user whose claim is text': identity('authenticated', { email_verified: 'true' }),
  verified: identity('authenticated', { email_verified: true }),
}

function code(act: () => void): string {
  try {
    act()
    return 'enters'
  } catch (error) {
    return (error as HttpError).code
  }
}

const byClaims = (gate: Omit<Gate, 'decidedBy'>, caller: Identity | null) =>
  code(() => gateByClaims({ ...gate, decidedBy: 'route' }, caller))

describe('4.1 what claims alone can refuse', () => {
  it.each([
    ['required', { required: true }, ['unauthorized', 'unauthorized', 'unauthorized', 'enters', 'enters', 'enters']],
    ['public', { required: false }, Array(6).fill('enters')],
    [
      'required and verified',
      { required: true, verifiedEmail: true },
      ['unauthorized', 'unauthorized', 'unauthorized', 'email_not_verified', 'email_not_verified', 'enters'],
    ],
    [
      '4.5 open but verified',
      { required: false, verifiedEmail: true },
      [...Array(5).fill('email_not_verified'), 'enters'],
    ],
    [
      '4.5 open but a device, which no anonymous request has',
      { required: false, device: true },
      [...Array(3).fill('device_required'), ...Array(3).fill('enters')],
    ],
    [
      '4.5 open but a role',
      { required: false, role: 'staff' },
      ['forbidden', 'forbidden', 'forbidden', 'enters', 'enters', 'enters'],
    ],
    [
      '4.5 open but a permission',
      { required: false, permission: 'a.b' },
      ['forbidden', 'forbidden', 'forbidden', 'enters', 'enters', 'enters'],
    ],
  ] as const)('%s', (_what, gate, expected) => {
    expect(Object.values(callers).map((caller) => byClaims(gate as Omit<Gate, 'decidedBy'>, caller))).toEqual(expected)
  })
})

describe('4.6, 9.7 who administers without the service-role key', () => {
  const administrators = {
    ...callers,
    operator: identity('authenticated', { management: true }),
    'an operator by text': identity('authenticated', { management: 'true' }),
    'an anonymous session that claims management': identity('anon', { management: true }),
  }

  it.each([
    [true, { nobody: 'unauthorized', operator: 'enters' }],
    ['key', { nobody: 'unauthorized' }],
  ] as const)('serviceRole: %s', (serviceRole, expected) => {
    const codes = Object.entries(administrators).map(([name, caller]) => [
      name,
      byClaims({ required: true, serviceRole }, caller),
    ])
    const others = Object.keys(administrators).map((name) => [name, 'forbidden'])
    expect(Object.fromEntries(codes)).toEqual({ ...Object.fromEntries(others), ...expected })
  })

  it.each([
    [true, 'enters'],
    [false, 'forbidden'],
  ])('the list of operators is asked besides: it names the user: %s', (operator, expected) => {
    const gate: Gate = { required: true, serviceRole: true, decidedBy: 'route' }
    expect(code(() => gateByGrants(gate, { ...noGrants, operator }))).toBe(expected)
  })
})

describe('4.2, 4.4 what grants decide', () => {
  const gate = (permission: string): Gate => ({ required: true, permission, decidedBy: 'route' })

  it.each([
    [['orders.refund'], 'enters'],
    [['orders.*'], 'enters'],
    [['orders.read'], 'forbidden'],
    [['order.*'], 'forbidden'],
    [['*'], 'forbidden'],
    [['orders'], 'forbidden'],
    [['orders.refund.all'], 'forbidden'],
    [[], 'forbidden'],
  ])('%j for orders.refund: %s', (permissions, expected) => {
    expect(code(() => gateByGrants(gate('orders.refund'), { ...noGrants, permissions }))).toBe(expected)
  })

  it('a rule with a role and a permission asks for both', () => {
    const both: Gate = { required: true, role: 'staff', permission: 'orders.read', decidedBy: 'route' }
    const codes = [
      { roles: ['staff'], permissions: ['orders.read'] },
      { roles: ['staff'], permissions: [] },
      { roles: [], permissions: ['orders.read'] },
    ].map((held) => code(() => gateByGrants(both, { ...noGrants, ...held })))
    expect(codes).toEqual(['enters', 'forbidden', 'forbidden'])
  })

  it('a role is held by its whole name', () => {
    const staff: Gate = { required: true, role: 'staff', decidedBy: 'route' }
    expect(code(() => gateByGrants(staff, { ...noGrants, roles: ['staff'] }))).toBe('enters')
    expect(
      code(() => gateByGrants(staff, { ...noGrants, roles: ['staff2', 'Staff', ''], permissions: ['staff'] })),
    ).toBe('forbidden')
  })
})
