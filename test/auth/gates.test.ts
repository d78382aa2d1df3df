/** Who may call each route of the auth module (contract 4.6, 9.7), as the build reads it from the decorators. No worker is needed. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { build } from '../../build/index.ts'
import { authTarget } from '../../build/targets.ts'

/** Calls without a token: ways in, and what a person does who cannot sign in. */
const open = `
GET /.well-known/oauth-authorization-server/auth
GET /auth/.well-known/jwks.json
GET /auth/.well-known/openid-configuration
GET /auth/health
POST /auth/anonymous
POST /auth/email/change/confirm
POST /auth/email/confirm
POST /auth/email/resend
POST /auth/email/undo
POST /auth/mfa/challenge
POST /auth/mfa/passkey/options
GET /auth/oauth/:provider/callback
POST /auth/oauth/:provider/callback
POST /auth/oauth/:provider/native
GET /auth/oauth/:provider/start
POST /auth/oauth/exchange
POST /auth/password/forgot
POST /auth/password/reset
POST /auth/sign-in/passkey
POST /auth/sign-in/passkey/exchange
POST /auth/sign-in/passkey/hand-off
POST /auth/sign-in/passkey/options
POST /auth/sign-in/password
POST /auth/sign-in/phone
POST /auth/sign-in/phone/verify
POST /auth/sign-up
POST /auth/token/refresh
`

/** Handlers that ask for the caller themselves: they admit guests, or hold no connection while they work. */
const asksItself = `
POST /auth/devices
GET /auth/devices
DELETE /auth/devices/:id
POST /auth/devices/challenge
POST /auth/sign-out
POST /auth/upgrade
GET /auth/user
`

/** The operators’ own tokens do not suffice. */
const keyAlone = `
POST /v1/management/auth/messages
GET /v1/management/auth/operators
PUT /v1/management/auth/operators/:id
DELETE /v1/management/auth/operators/:id
PUT /v1/management/auth/templates/:key/default
DELETE /v1/management/auth/templates/:key/default
POST /v1/management/auth/users/:id/tokens
`

const linesOf = (text: string) => text.trim().split('\n').sort()
const isPage = (path: string) => /^\/auth\/(?:pages\/|passkey$|(?:email|password)\/\w+$)/.test(path)

it('4.6, 9.7 each route asks for the service role, for a user, or is one of these', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-gates-'))
  const { built, refusals } = await build(authTarget(folder))
  fs.rmSync(folder, { recursive: true, force: true })
  expect(refusals.filter(({ severity }) => severity === 'error')).toEqual([])
  const routes = built!.table.routes
  const those = (chosen: (route: (typeof routes)[number]) => boolean) =>
    routes
      .filter(chosen)
      .map(({ method, path }) => `${method} ${path}`)
      .sort()
  const isAdministered = (path: string) => /^\/(?:v1\/management|admin)\//.test(path)
  expect(those(({ path, gate }) => isAdministered(path) !== (gate.serviceRole !== undefined))).toEqual([])
  expect(those(({ gate }) => gate.serviceRole === 'key')).toEqual(linesOf(keyAlone))
  const isShown = ({ method, path }: (typeof routes)[number]) =>
    path.startsWith('/auth/pages/') || (method === 'GET' && isPage(path))
  expect(those((route) => !route.gate.required && !isShown(route))).toEqual(linesOf(open + asksItself.slice(1)))
})
