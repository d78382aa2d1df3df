/**
 * Method and path of each operation of the auth module, by its feature and the name of its handler. Generated from the module's
 * route table by `npm run docs`: edit the routes in `src/auth`, never this file.
 */

export const keys = {
  keySet: { method: 'GET', path: '/auth/.well-known/jwks.json' },
} as const

export const operators = {
  list: { method: 'GET', path: '/v1/management/auth/operators' },
  add: { method: 'PUT', path: '/v1/management/auth/operators/:id' },
  remove: { method: 'DELETE', path: '/v1/management/auth/operators/:id' },
} as const

export const passwords = {
  signUp: { method: 'POST', path: '/auth/sign-up' },
  signIn: { method: 'POST', path: '/auth/sign-in/password' },
} as const

export const roles = {
  list: { method: 'GET', path: '/v1/management/auth/roles' },
  declare: { method: 'POST', path: '/v1/management/auth/roles' },
  held: { method: 'GET', path: '/v1/management/auth/users/:id/roles' },
  assign: { method: 'PUT', path: '/v1/management/auth/users/:id/roles/:role' },
  revoke: { method: 'DELETE', path: '/v1/management/auth/users/:id/roles/:role' },
} as const

export const sessions = {
  refresh: { method: 'POST', path: '/auth/token/refresh' },
} as const

export const settings = {
  read: { method: 'GET', path: '/v1/management/auth/settings' },
  replace: { method: 'PUT', path: '/v1/management/auth/settings' },
} as const

export const vault = {
  list: { method: 'GET', path: '/admin/vault/backend' },
  put: { method: 'PUT', path: '/admin/vault/backend/:name' },
  remove: { method: 'DELETE', path: '/admin/vault/backend/:name' },
} as const
