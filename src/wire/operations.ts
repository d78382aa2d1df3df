/**
 * Method and path of each operation of the auth module, by its feature and the name of its handler. Generated from the module's
 * route table by `npm run docs`: edit the routes in `src/auth`, never this file.
 */

export const accounts = {
  list: { method: 'GET', path: '/v1/management/auth/users' },
  create: { method: 'POST', path: '/v1/management/auth/users' },
  read: { method: 'GET', path: '/v1/management/auth/users/:id' },
  change: { method: 'PATCH', path: '/v1/management/auth/users/:id' },
  remove: { method: 'DELETE', path: '/v1/management/auth/users/:id' },
  export: { method: 'GET', path: '/v1/management/auth/users/:id/export' },
  revokeCredentials: { method: 'POST', path: '/v1/management/auth/users/:id/credentials/revoke-all' },
  resetPassword: { method: 'POST', path: '/v1/management/auth/users/:id/reset-password' },
} as const

export const anonymous = {
  begin: { method: 'POST', path: '/auth/anonymous' },
} as const

export const audit = {
  list: { method: 'GET', path: '/v1/management/auth/audit' },
} as const

export const consents = {
  list: { method: 'GET', path: '/auth/consents' },
  grant: { method: 'POST', path: '/auth/consents' },
  withdraw: { method: 'DELETE', path: '/auth/consents/:document' },
  listOf: { method: 'GET', path: '/v1/management/auth/users/:id/consents' },
} as const

export const deliveries = {
  list: { method: 'GET', path: '/v1/management/webhooks/deliveries' },
  read: { method: 'GET', path: '/v1/management/webhooks/deliveries/:id' },
} as const

export const devices = {
  listAll: { method: 'GET', path: '/v1/management/auth/devices' },
  revoke: { method: 'DELETE', path: '/v1/management/auth/devices/:id' },
  challenge: { method: 'POST', path: '/auth/devices/challenge' },
  enrol: { method: 'POST', path: '/auth/devices' },
  list: { method: 'GET', path: '/auth/devices' },
  remove: { method: 'DELETE', path: '/auth/devices/:id' },
} as const

export const discovery = {
  openid: { method: 'GET', path: '/auth/.well-known/openid-configuration' },
  oauth: { method: 'GET', path: '/.well-known/oauth-authorization-server/auth' },
} as const

export const emails = {
  confirm: { method: 'POST', path: '/auth/email/confirm' },
  resend: { method: 'POST', path: '/auth/email/resend' },
  change: { method: 'POST', path: '/auth/email/change' },
  confirmChange: { method: 'POST', path: '/auth/email/change/confirm' },
  undo: { method: 'POST', path: '/auth/email/undo' },
} as const

export const health = {
  read: { method: 'GET', path: '/auth/health' },
} as const

export const identities = {
  list: { method: 'GET', path: '/auth/identities' },
  remove: { method: 'DELETE', path: '/auth/identities/:provider/:id' },
} as const

export const keys = {
  keySet: { method: 'GET', path: '/auth/.well-known/jwks.json' },
  list: { method: 'GET', path: '/v1/management/auth/keys' },
  rotateSigning: { method: 'POST', path: '/v1/management/auth/keys/signing/rotate' },
  rotateClaims: { method: 'POST', path: '/v1/management/auth/keys/claims/rotate' },
  rotateServiceRole: { method: 'POST', path: '/v1/management/auth/keys/service-role/rotate' },
} as const

export const messages = {
  send: { method: 'POST', path: '/v1/management/auth/messages' },
} as const

export const mfa = {
  read: { method: 'GET', path: '/auth/mfa' },
  enrol: { method: 'POST', path: '/auth/mfa/totp/enrol' },
  verify: { method: 'POST', path: '/auth/mfa/totp/verify' },
  stepUp: { method: 'POST', path: '/auth/mfa/step-up' },
  challenge: { method: 'POST', path: '/auth/mfa/challenge' },
  renewRecoveryCodes: { method: 'POST', path: '/auth/mfa/recovery-codes' },
  remove: { method: 'DELETE', path: '/auth/mfa/:factor_id' },
  readOf: { method: 'GET', path: '/v1/management/auth/users/:id/mfa' },
  reset: { method: 'DELETE', path: '/v1/management/auth/users/:id/mfa' },
} as const

export const oauth = {
  link: { method: 'POST', path: '/auth/identities/:provider/start' },
  start: { method: 'GET', path: '/auth/oauth/:provider/start' },
  answered: { method: 'GET', path: '/auth/oauth/:provider/callback' },
  posted: { method: 'POST', path: '/auth/oauth/:provider/callback' },
  exchange: { method: 'POST', path: '/auth/oauth/exchange' },
  native: { method: 'POST', path: '/auth/oauth/:provider/native' },
} as const

export const operators = {
  list: { method: 'GET', path: '/v1/management/auth/operators' },
  add: { method: 'PUT', path: '/v1/management/auth/operators/:id' },
  remove: { method: 'DELETE', path: '/v1/management/auth/operators/:id' },
} as const

export const pages = {
  confirmPage: { method: 'GET', path: '/auth/email/confirm' },
  confirm: { method: 'POST', path: '/auth/pages/confirm' },
  changePage: { method: 'GET', path: '/auth/email/change' },
  change: { method: 'POST', path: '/auth/pages/change' },
  undoPage: { method: 'GET', path: '/auth/email/undo' },
  undo: { method: 'POST', path: '/auth/pages/undo' },
  resend: { method: 'POST', path: '/auth/pages/resend' },
  reopened: { method: 'GET', path: '/auth/pages/:page' },
  passkeyPage: { method: 'GET', path: '/auth/passkey' },
  resetPage: { method: 'GET', path: '/auth/password/reset' },
  reset: { method: 'POST', path: '/auth/pages/reset' },
  forgot: { method: 'POST', path: '/auth/pages/forgot' },
} as const

export const passkeys = {
  enrol: { method: 'POST', path: '/auth/passkeys/enrol' },
  verify: { method: 'POST', path: '/auth/passkeys/verify' },
  handOff: { method: 'POST', path: '/auth/sign-in/passkey/hand-off' },
  exchange: { method: 'POST', path: '/auth/sign-in/passkey/exchange' },
  signInOptions: { method: 'POST', path: '/auth/sign-in/passkey/options' },
  signIn: { method: 'POST', path: '/auth/sign-in/passkey' },
  secondFactorOptions: { method: 'POST', path: '/auth/mfa/passkey/options' },
  stepUpOptions: { method: 'POST', path: '/auth/mfa/step-up/passkey/options' },
} as const

export const passwords = {
  forgot: { method: 'POST', path: '/auth/password/forgot' },
  reset: { method: 'POST', path: '/auth/password/reset' },
  signUp: { method: 'POST', path: '/auth/sign-up' },
  signIn: { method: 'POST', path: '/auth/sign-in/password' },
  upgrade: { method: 'POST', path: '/auth/upgrade' },
  change: { method: 'POST', path: '/auth/password/change' },
} as const

export const phones = {
  change: { method: 'POST', path: '/auth/phone/change' },
  confirmChange: { method: 'POST', path: '/auth/phone/change/confirm' },
  remove: { method: 'DELETE', path: '/auth/phone' },
  requestCode: { method: 'POST', path: '/auth/sign-in/phone' },
  verify: { method: 'POST', path: '/auth/sign-in/phone/verify' },
} as const

export const providers = {
  readPhoneSettings: { method: 'GET', path: '/v1/management/auth/providers/phone/settings' },
  replacePhoneSettings: { method: 'PUT', path: '/v1/management/auth/providers/phone/settings' },
  writeCredential: { method: 'PUT', path: '/v1/management/auth/providers/:name/credentials/:credential' },
  removeCredential: { method: 'DELETE', path: '/v1/management/auth/providers/:name/credentials/:credential' },
  list: { method: 'GET', path: '/v1/management/auth/providers' },
  read: { method: 'GET', path: '/v1/management/auth/providers/:name' },
  setEnabled: { method: 'POST', path: '/v1/management/auth/providers/:name' },
  configure: { method: 'PUT', path: '/v1/management/auth/providers/:name/config' },
  clear: { method: 'DELETE', path: '/v1/management/auth/providers/:name/config' },
} as const

export const roles = {
  list: { method: 'GET', path: '/v1/management/auth/roles' },
  declare: { method: 'POST', path: '/v1/management/auth/roles' },
  remove: { method: 'DELETE', path: '/v1/management/auth/roles/:name' },
  holders: { method: 'GET', path: '/v1/management/auth/roles/:name/users' },
  held: { method: 'GET', path: '/v1/management/auth/users/:id/roles' },
  assign: { method: 'PUT', path: '/v1/management/auth/users/:id/roles/:role' },
  revoke: { method: 'DELETE', path: '/v1/management/auth/users/:id/roles/:role' },
} as const

export const sealing = {
  rotate: { method: 'POST', path: '/v1/management/auth/keys/sealing/rotate' },
} as const

export const sessions = {
  refresh: { method: 'POST', path: '/auth/token/refresh' },
  list: { method: 'GET', path: '/auth/sessions' },
  end: { method: 'DELETE', path: '/auth/sessions/:id' },
  signOut: { method: 'POST', path: '/auth/sign-out' },
  listAll: { method: 'GET', path: '/v1/management/auth/sessions' },
  revoke: { method: 'DELETE', path: '/v1/management/auth/sessions/:id' },
  revokeAll: { method: 'POST', path: '/v1/management/auth/users/:id/sessions/revoke-all' },
  revokeOfUsers: { method: 'POST', path: '/v1/management/auth/sessions/revoke' },
  issue: { method: 'POST', path: '/v1/management/auth/users/:id/tokens' },
} as const

export const settings = {
  read: { method: 'GET', path: '/v1/management/auth/settings' },
  replace: { method: 'PUT', path: '/v1/management/auth/settings' },
} as const

export const templates = {
  list: { method: 'GET', path: '/v1/management/auth/templates' },
  read: { method: 'GET', path: '/v1/management/auth/templates/:key' },
  replace: { method: 'PUT', path: '/v1/management/auth/templates/:key' },
  reset: { method: 'DELETE', path: '/v1/management/auth/templates/:key' },
  declare: { method: 'PUT', path: '/v1/management/auth/templates/:key/default' },
  withdraw: { method: 'DELETE', path: '/v1/management/auth/templates/:key/default' },
  preview: { method: 'POST', path: '/v1/management/auth/templates/:key/preview' },
  sendTest: { method: 'POST', path: '/v1/management/auth/templates/:key/send-test' },
} as const

export const users = {
  read: { method: 'GET', path: '/auth/user' },
  remove: { method: 'DELETE', path: '/auth/user' },
} as const

export const vault = {
  list: { method: 'GET', path: '/admin/vault/backend' },
  put: { method: 'PUT', path: '/admin/vault/backend/:name' },
  remove: { method: 'DELETE', path: '/admin/vault/backend/:name' },
} as const
