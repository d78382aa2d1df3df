import { type TokenClass } from './base.ts'
import type { TokenMaker } from './maker.ts'

/** Any `role` but `anon` is a signed-in user, and names no role of the database (contract 3.4). */
export function roles({ make, accept, refuse, genuine, keys: { strangerKey } }: TokenMaker): TokenClass {
  const any: unknown[] = [
    'authenticated',
    'admin',
    'service_role',
    'backend_service_role',
    'auth_admin',
    'postgres',
    'ANON',
    'anon ',
    '',
    7,
    null,
    true,
    ['anon'],
    {},
  ]
  return {
    name: 'role',
    accepted: [
      accept('no role', genuine),
      ...any.map((role) => accept(`role ${JSON.stringify(role)}`, make({}, { role }))),
    ],
    refused: ['anon', 'authenticated', 'service_role'].map((role) =>
      refuse(`role ${role}, signed by a stranger`, make({}, { role }, strangerKey)),
    ),
  }
}
