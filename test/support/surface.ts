/**
 * Every operation of the management surface as a row: a call that succeeds, the answers to names that are not there, and its own
 * refusals. The contract test, the hostile inputs and the examples of docs/auth-openapi.json are made of these rows.
 */
import { generateKeyPairSync } from 'node:crypto'
import { vi } from 'vitest'
import { addressOf } from '../../src/wire/address.ts'
import { newId } from '../../src/wire/ids.ts'
import * as operations from '../../src/wire/operations.ts'
import { longestVault } from '../../src/wire/secrets.ts'
import { enrolDevice } from './devices.ts'
import type { Administration } from './management.ts'
import type { Answer, CallOptions, TestStack } from './stack.ts'

export interface Operation {
  /** `roles.assign` */
  name: string
  method: string
  /** `/v1/management/auth/users/:id/roles/:role` */
  path: string
}

/** Every operation of the auth module. */
export const allOperations: Operation[] = Object.entries(operations).flatMap(([feature, own]) =>
  Object.entries(own).map(([handler, { method, path }]) => ({ name: `${feature}.${handler}`, method, path })),
)

const isAdministered = (path: string) => /^\/(?:v1\/management|admin)\//.test(path)

export const administered = allOperations.filter(({ path }) => isAdministered(path))

/** The operations of the accounts themselves. `test/support/account-flows.ts` has their rows. */
export const ownOperations = allOperations.filter(({ path }) => !isAdministered(path))

export interface SurfaceCall {
  /** Values of the path's parameters. */
  values?: Record<string, string>
  query?: string
  json?: unknown
  /** Sent as a page's form. */
  form?: Record<string, string>
  /** The access token of the caller, for operations that administer nothing. */
  token?: string
  headers?: Record<string, string>
  /** Restores what the call needed, after its answer. */
  undo?: () => Promise<unknown>
}

export interface World {
  stack: TestStack
  admin: Administration
}

export type Make<W extends World = World> = (world: W) => SurfaceCall | Promise<SurfaceCall>

export interface Row<W extends World = World> {
  /** Status of the call that succeeds. */
  status: number
  /** Why no test can have the call succeed. Its examples are then its refusals. */
  neverSucceeds?: string
  happy: Make<W>
  /**
   * The code of the 404 for each parameter of the path whose value names nothing. `absolute`: the call succeeds, because it states how
   * things shall be. `refused`: the value is wrong by its form alone, which `refusals` show.
   */
  unknown?: Record<string, string>
  /** Calls that are refused, by the code of their answer. Those that the runtime gives to all routes are left out. */
  refusals?: Record<string, Make<W>>
}

/** Sends a call of an operation: with the service-role key where it administers. */
export async function sendCall(
  { stack }: World,
  { method, path }: Operation,
  { values = {}, query, form, token, headers, ...call }: SurfaceCall,
  options: CallOptions = {},
): Promise<Answer> {
  const address = addressOf<'/:name'>({ path: path as '/:name' }, values as { name: string })
  const { headers: others, ...more } = options
  const key: Record<string, string> = isAdministered(path) ? { apikey: stack.stack.record.service_role_key } : {}
  const posted = {
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
    origin: 'null',
  }
  return stack.call(`${address}${query ? `?${query}` : ''}`, {
    method,
    ...('json' in call ? { json: call.json } : {}),
    ...(form ? { body: new URLSearchParams(form).toString() } : {}),
    ...(token === undefined ? {} : { token }),
    headers: { ...key, ...(form ? posted : {}), ...headers, ...others },
    ...more,
  })
}

/** Sends the call that a row makes, and then restores the state that the row has changed. */
export async function perform<W extends World>(
  world: W,
  operation: Operation,
  make: Make<W>,
  options?: CallOptions,
): Promise<Answer> {
  const call = await make(world)
  try {
    return await sendCall(world, operation, call, options)
  } finally {
    await call.undo?.()
  }
}

let count = 0
const next = () => `${process.pid.toString(36)}-${(count++).toString(36)}`
const address = () => `person-${next()}@example.com`
const phone = () => `+4915${String(10_000_000 + ((process.pid * 1_000 + count++) % 89_999_999))}`

async function user({ admin }: World, json: object = {}): Promise<string> {
  const made = await admin.call('POST', '/users', { email: address(), ...json })
  if (made.status !== 201) throw new Error(`no user was made: ${made.text}`)
  return made.json.id
}

/** A user with a session, as a sign-up leaves it once its mail is sent. */
async function session({ stack }: World): Promise<{ id: string; session: string }> {
  const { id, email } = await stack.signUp()
  await stack.mail(email)
  await vi.waitUntil(async () => {
    const waiting = await stack.sql(`select from auth.outbox where user_id = $1 and status <> 'sent'`, [id])
    return waiting.length === 0
  })
  const rows = await stack.sql<{ id: string }>('select id from auth.sessions where user_id = $1', [id])
  return { id, session: rows[0]!.id }
}

/** A delivery of a webhook that records them. */
async function delivery({ stack }: World): Promise<string> {
  const id = newId('dlv_')
  await stack.sql(
    `insert into webhooks.deliveries (id, webhook, request_id, received_at, search, headers, event, outcome, status, duration_ms)
     values ($1, 'payments', $2, now(), '', '{"content-type":"application/json"}', 'invoice.paid', 'handled', 200, 12)`,
    [id, newId('req_')],
  )
  return id
}

async function role({ admin }: World): Promise<string> {
  const name = `role-${next()}`
  await admin.call('POST', '/roles', { name, permissions: ['orders.read', 'orders.write'] })
  return name
}

const browser = (key = 'web') => ({
  key,
  enabled: true,
  application_key: 'shop',
  platform: 'web',
  variant: 'release',
  web_client_id: 'web.apps.example',
  credential_ref: key,
  return_uris: ['https://shop.example/signed-in'],
})
const clientSecret = { provider: 'google', kind: 'oauth_client_secret', client_secret: 'a client secret' }
const phoneSettings = { driver: 'console', from: 'Shop', allowed_prefixes: ['+49', '+43'] }
const texts = { subject: 'Changed: {{email}}', body: '<p>Changed at {{occurred_at}}.</p>', body_text: 'Changed.' }
const declared = {
  channel: 'email',
  subject: 'Order {{order}}',
  body: '<p>Order {{order}} is paid.</p>',
  body_text: 'Order {{order}} is paid.',
  variables: [{ name: 'order', required: true, example: '1001' }],
}
const receipt = { template: 'receipt', variables: { order: '1001', items: '2 × tea-sencha', total: '25.00 EUR' } }
const stale = { 'if-match': '"0"' }

const nobody = { id: 'user_not_found' }
const listed = (query = ''): Record<'invalid_limit' | 'invalid_cursor', Make> => ({
  invalid_limit: () => ({ query: `${query}limit=501` }),
  invalid_cursor: () => ({ query: `${query}cursor=AbC_-9` }),
})

/** Changes the settings for one call. */
export const withSettings =
  <W extends World>(document: object, make: Make<W>): Make<W> =>
  async (world) => {
    const before = (await world.admin.call('GET', '/settings')).json
    await world.admin.call('PUT', '/settings', { ...before, ...document })
    return { ...(await make(world)), undo: () => world.admin.call('PUT', '/settings', before) }
  }

/** Limits one call to a single attempt, which another one has taken. */
const limited = (name: string, operation: Operation, make: Make): Make =>
  withSettings({ rate_limits: { [name]: { attempts: 1, seconds: 600 } } }, async (world) => {
    const call = await make(world)
    await sendCall(world, operation, call)
    return call
  })

const named = (name: string) => allOperations.find((one) => one.name === name)!

export const surface: Record<string, Row> = {
  'accounts.list': {
    status: 200,
    happy: async (world) => {
      const email = address()
      await user(world, { email, phone: phone(), email_confirmed: true, custom_claims: { plan: 'pro' } })
      return { query: `email=${email}&limit=1` }
    },
    refusals: { ...listed(), invalid_request: () => ({ query: 'email=nobody' }) },
  },
  'accounts.create': {
    status: 201,
    happy: () => ({ json: { email: address(), email_confirmed: true, custom_claims: { plan: 'pro' } } }),
    refusals: {
      invalid_request: () => ({ json: { email: 'nobody', pasword: 'x' } }),
      invalid_password: () => ({ json: { email: address(), password: 'short' } }),
      email_taken: async (world) => {
        const email = address()
        await user(world, { email })
        return { json: { email } }
      },
      phone_taken: async (world) => {
        const number = phone()
        await user(world, { phone: number })
        return { json: { phone: number } }
      },
      sign_up_refused: async ({ stack }) => {
        await stack.sql(`create function public.user_created(user_id text, email text, data jsonb) returns void
          language plpgsql security definer set search_path = '' as $$ begin
            raise exception 'only invited people' using errcode = 'P0001'; end $$`)
        await stack.sql(
          'revoke execute on function public.user_created from public; grant execute on function public.user_created to auth_admin',
        )
        return {
          json: { email: address() },
          undo: () => stack.sql('drop function public.user_created(text, text, jsonb)'),
        }
      },
    },
  },
  'accounts.read': { status: 200, happy: async (world) => ({ values: { id: await user(world) } }), unknown: nobody },
  'accounts.change': {
    status: 200,
    happy: async (world) => ({ values: { id: await user(world) }, json: { custom_claims: { plan: 'pro' } } }),
    unknown: nobody,
    refusals: {
      invalid_request: async (world) => ({ values: { id: await user(world) }, json: { disabled: 'yes' } }),
      email_taken: async (world) => {
        const email = address()
        await user(world, { email })
        return { values: { id: await user(world) }, json: { email } }
      },
      phone_taken: async (world) => {
        const number = phone()
        await user(world, { phone: number })
        return { values: { id: await user(world) }, json: { phone: number } }
      },
    },
  },
  'accounts.remove': { status: 204, happy: async (world) => ({ values: { id: await user(world) } }), unknown: nobody },
  'accounts.export': {
    status: 200,
    happy: async (world) => ({ values: { id: (await session(world)).id } }),
    unknown: nobody,
  },
  'accounts.revokeCredentials': {
    status: 200,
    happy: async (world) => ({ values: { id: (await session(world)).id } }),
    unknown: nobody,
  },
  'accounts.resetPassword': {
    status: 202,
    happy: async (world) => ({ values: { id: await user(world) }, json: { mode: 'email' } }),
    unknown: nobody,
    refusals: {
      invalid_request: async (world) => ({ values: { id: await user(world) }, json: { mode: 'temporary' } }),
      conflict: async (world) => {
        const made = await world.admin.call('POST', '/users', { phone: phone() })
        return { values: { id: made.json.id }, json: {} }
      },
      rate_limited: limited('mail_per_recipient', named('accounts.resetPassword'), async (world) => ({
        values: { id: await user(world) },
        json: {},
      })),
    },
  },
  'audit.list': {
    status: 200,
    happy: async (world) => {
      const id = await user(world)
      await world.admin.call('PATCH', `/users/${id}`, { custom_claims: { plan: 'pro' } })
      return { query: `target_id=${id}&event_type=user.updated&limit=1` }
    },
    refusals: { ...listed(), invalid_request: () => ({ query: 'from=yesterday' }) },
  },
  'consents.listOf': {
    status: 200,
    happy: async (world) => {
      const { id, token } = await world.stack.signUp()
      await world.stack.call('/auth/consents', { token, json: { document: 'terms', version: '2026-01' } })
      return { values: { id } }
    },
    unknown: nobody,
  },
  'deliveries.list': {
    status: 200,
    happy: async (world) => {
      await delivery(world)
      return { query: 'webhook=payments&limit=1' }
    },
    refusals: { ...listed(), invalid_request: () => ({ query: 'outcome=lost' }) },
  },
  'deliveries.read': {
    status: 200,
    happy: async (world) => ({ values: { id: await delivery(world) } }),
    unknown: { id: 'delivery_not_found' },
  },
  'devices.listAll': {
    status: 200,
    happy: async (world) => {
      const person = await world.stack.signUp()
      await enrolDevice(world.stack, person)
      return { query: `user_id=${person.id}` }
    },
    refusals: listed(),
  },
  'devices.revoke': {
    status: 200,
    happy: async (world) => {
      const device = await enrolDevice(world.stack, await world.stack.signUp())
      return { values: { id: device.id } }
    },
    unknown: { id: 'device_not_found' },
  },
  'keys.list': { status: 200, happy: () => ({}) },
  'keys.rotateSigning': { status: 200, happy: () => ({}) },
  'keys.rotateClaims': {
    status: 200,
    happy: () => ({ json: { overlap_seconds: 3_600 } }),
    refusals: { invalid_request: () => ({ json: { overlap_seconds: -1 } }) },
  },
  'keys.rotateServiceRole': {
    status: 200,
    // the local stack goes on with the new key at any moment: until then, and with each key before, the overlap lets it in
    happy: () => ({ json: { overlap_seconds: 3_600 } }),
    refusals: { invalid_request: () => ({ json: { overlap_seconds: -1 } }) },
  },
  'messages.send': {
    status: 202,
    happy: () => ({ json: { to: address(), ...receipt } }),
    refusals: {
      invalid_request: () => ({ json: { template: 'receipt' } }),
      invalid_message: () => ({ json: { to: address(), ...receipt, variables: { order: '1001', price: '25' } } }),
      user_not_found: () => ({ json: { to: 'usr_unknown', ...receipt } }),
      phone_not_allowed: async ({ admin }) => {
        const text = { channel: 'sms', subject: null, body: 'Order {{order}} is paid.', variables: [{ name: 'order' }] }
        await admin.call('PUT', '/templates/order_text/default', text)
        await admin.call('PUT', '/providers/phone/settings', { driver: 'console', allowed_prefixes: ['+49', '+43'] })
        return {
          json: { to: '+12025550123', template: 'order_text', variables: { order: '1001' } },
          undo: () => admin.call('DELETE', '/templates/order_text/default'),
        }
      },
      rate_limited: limited('message_per_recipient', named('messages.send'), () => {
        const json = { to: address(), ...receipt }
        return { json }
      }),
    },
  },
  'mfa.readOf': {
    status: 200,
    happy: async (world) => {
      const { id, token } = await world.stack.signUp()
      await world.stack.call('/auth/mfa/totp/enrol', { token, json: { label: 'a telephone' } })
      return { values: { id } }
    },
    unknown: nobody,
  },
  'mfa.reset': {
    status: 200,
    happy: async (world) => {
      const { id, token } = await world.stack.signUp()
      await world.stack.call('/auth/mfa/totp/enrol', { token, json: {} })
      return { values: { id } }
    },
    unknown: nobody,
  },
  'operators.list': {
    status: 200,
    happy: async (world) => {
      const id = await user(world)
      await world.admin.call('PUT', `/operators/${id}`)
      return { undo: () => world.admin.call('DELETE', `/operators/${id}`) }
    },
  },
  'operators.add': {
    status: 204,
    happy: async (world) => {
      const id = await user(world)
      return { values: { id }, undo: () => world.admin.call('DELETE', `/operators/${id}`) }
    },
    unknown: nobody,
  },
  'operators.remove': {
    status: 204,
    happy: async (world) => {
      const id = await user(world)
      await world.admin.call('PUT', `/operators/${id}`)
      return { values: { id } }
    },
    unknown: nobody,
  },
  'providers.readPhoneSettings': { status: 200, happy: () => ({}) },
  'providers.replacePhoneSettings': {
    status: 200,
    happy: () => ({ json: phoneSettings }),
    refusals: {
      invalid_provider_config: () => ({ json: { driver: 'pigeon', otp_length: 1 } }),
      precondition_failed: () => ({ json: phoneSettings, headers: stale }),
    },
  },
  'providers.writeCredential': {
    status: 200,
    happy: () => ({ values: { name: 'google', credential: 'web' }, json: clientSecret }),
    unknown: { name: 'provider_not_found', credential: 'absolute' },
    refusals: {
      invalid_provider_credential: () => ({
        values: { name: 'google', credential: 'web' },
        json: { provider: 'google', kind: 'oauth_client_secret', client_secret: null },
      }),
      invalid_private_key: () => ({
        values: { name: 'apple', credential: 'main' },
        json: {
          provider: 'apple',
          kind: 'signing_key',
          team_id: 'TEAM123456',
          key_id: 'KEY1234567',
          private_key: generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({
            type: 'pkcs8',
            format: 'pem',
          }),
        },
      }),
      precondition_failed: () => ({
        values: { name: 'google', credential: 'web' },
        json: clientSecret,
        headers: stale,
      }),
      too_many_credentials: async ({ stack }) => {
        await stack.sql(`insert into auth.provider_credentials (provider, name, kind, sealed, fingerprint)
          select 'google', 'c' || n, 'oauth_client_secret', '', repeat('0', 16) from generate_series(1, 100) as n`)
        return {
          values: { name: 'google', credential: 'one-more' },
          json: clientSecret,
          undo: () => stack.sql(`delete from auth.provider_credentials where sealed = ''`),
        }
      },
    },
  },
  'providers.removeCredential': {
    status: 204,
    happy: async ({ admin }) => {
      await admin.call('PUT', '/providers/google/credentials/unused', clientSecret)
      return { values: { name: 'google', credential: 'unused' } }
    },
    unknown: { name: 'provider_not_found', credential: 'absolute' },
    refusals: {
      invalid_provider_credential: () => ({ values: { name: 'google', credential: 'No Name' } }),
      precondition_failed: () => ({ values: { name: 'google', credential: 'unused' }, headers: stale }),
      credential_in_use: async ({ admin }) => {
        await admin.call('PUT', '/providers/google/config', { browser_clients: [browser()] })
        await admin.call('PUT', '/providers/google/credentials/web', clientSecret)
        return {
          values: { name: 'google', credential: 'web' },
          undo: () => admin.call('DELETE', '/providers/google/config?credential=web'),
        }
      },
    },
  },
  'providers.list': {
    status: 200,
    happy: async ({ admin }) => {
      await admin.call('PUT', '/providers/google/config', { browser_clients: [browser()] })
      await admin.call('PUT', '/providers/google/credentials/web', clientSecret)
      return { undo: () => admin.call('DELETE', '/providers/google/config?credential=web') }
    },
  },
  'providers.read': {
    status: 200,
    happy: () => ({ values: { name: 'github' } }),
    unknown: { name: 'provider_not_found' },
  },
  'providers.setEnabled': {
    status: 200,
    happy: ({ admin }) => ({
      values: { name: 'github' },
      json: { enabled: true },
      undo: () => admin.call('POST', '/providers/github', { enabled: false }),
    }),
    unknown: { name: 'provider_not_found' },
    refusals: {
      invalid_provider_config: () => ({ values: { name: 'github' }, json: { enabled: 'yes' } }),
      precondition_failed: () => ({ values: { name: 'github' }, json: { enabled: true }, headers: stale }),
    },
  },
  'providers.configure': {
    status: 200,
    happy: ({ admin }) => ({
      values: { name: 'google' },
      json: { browser_clients: [browser()], link_policy: 'verified_email' },
      undo: () => admin.call('DELETE', '/providers/google/config'),
    }),
    unknown: { name: 'provider_not_found' },
    refusals: {
      invalid_provider_config: () => ({ values: { name: 'google' }, json: { browser_client: [], scopes: null } }),
      precondition_failed: () => ({ values: { name: 'google' }, json: {}, headers: stale }),
    },
  },
  'providers.clear': {
    status: 200,
    happy: async ({ admin }) => {
      await admin.call('PUT', '/providers/google/config', { browser_clients: [browser()] })
      await admin.call('PUT', '/providers/google/credentials/web', clientSecret)
      return { values: { name: 'google' }, query: 'credential=web' }
    },
    unknown: { name: 'provider_not_found' },
    refusals: {
      invalid_provider_credential: () => ({ values: { name: 'google' }, query: 'credential=No%20Name' }),
      precondition_failed: () => ({ values: { name: 'google' }, headers: stale }),
    },
  },
  'roles.list': { status: 200, happy: () => ({}) },
  'roles.declare': {
    status: 200,
    happy: ({ admin }) => ({
      json: { name: 'auditor', permissions: ['orders.read'] },
      undo: () => admin.call('DELETE', '/roles/auditor'),
    }),
    refusals: { invalid_role: () => ({ json: { name: 'no name', permission: [] } }) },
  },
  'roles.remove': {
    status: 204,
    happy: async (world) => ({ values: { name: await role(world) } }),
    unknown: { name: 'role_not_defined' },
    refusals: {
      role_in_use: async (world) => {
        const id = await user(world)
        await world.stack.role('PUT', id, 'staff')
        return { values: { name: 'staff' }, undo: () => world.stack.role('DELETE', id, 'staff') }
      },
    },
  },
  'roles.holders': {
    status: 200,
    happy: async (world) => {
      const name = await role(world)
      await world.stack.role('PUT', await user(world), name)
      return { values: { name }, query: 'limit=1' }
    },
    unknown: { name: 'role_not_defined' },
    refusals: {
      invalid_limit: () => ({ values: { name: 'staff' }, query: 'limit=501' }),
      invalid_cursor: () => ({ values: { name: 'staff' }, query: 'cursor=AbC_-9' }),
    },
  },
  'roles.held': {
    status: 200,
    happy: async (world) => {
      const id = await user(world)
      await world.stack.role('PUT', id, 'staff')
      return { values: { id } }
    },
    unknown: nobody,
  },
  'roles.assign': {
    status: 204,
    happy: async (world) => ({ values: { id: await user(world), role: 'staff' } }),
    unknown: { ...nobody, role: 'role_not_defined' },
  },
  'roles.revoke': {
    status: 204,
    happy: async (world) => {
      const id = await user(world)
      await world.stack.role('PUT', id, 'staff')
      return { values: { id, role: 'staff' } }
    },
    unknown: { ...nobody, role: 'role_not_defined' },
  },
  'sealing.rotate': { status: 200, happy: () => ({}) },
  'sessions.listAll': {
    status: 200,
    happy: async (world) => ({ query: `user_id=${(await session(world)).id}&limit=1` }),
    refusals: { ...listed(), invalid_request: () => ({ query: 'status=over' }) },
  },
  'sessions.revoke': {
    status: 200,
    happy: async (world) => ({ values: { id: (await session(world)).session } }),
    unknown: { id: 'session_not_found' },
  },
  'sessions.revokeAll': {
    status: 200,
    happy: async (world) => ({ values: { id: (await session(world)).id } }),
    unknown: nobody,
  },
  'sessions.revokeOfUsers': {
    status: 200,
    happy: async (world) => ({ json: { user_ids: [(await session(world)).id] } }),
    refusals: { invalid_request: () => ({ json: { user_ids: [] } }) },
  },
  'sessions.issue': {
    status: 200,
    happy: async (world) => ({ values: { id: await user(world) } }),
    unknown: nobody,
  },
  'settings.read': {
    status: 200,
    happy: async ({ admin }) => {
      await admin.call('PUT', '/settings', { password_min_length: 10, site_url: 'https://shop.example' })
      return { undo: () => admin.call('PUT', '/settings', {}) }
    },
  },
  'settings.replace': {
    status: 200,
    happy: ({ admin }) => ({
      json: { password_min_length: 10, site_url: 'https://shop.example', pasword_max_length: 60 },
      undo: () => admin.call('PUT', '/settings', {}),
    }),
    refusals: {
      invalid_settings: () => ({ json: { password_max_length: 200 } }),
      precondition_failed: () => ({ json: {}, headers: stale }),
    },
  },
  'templates.list': { status: 200, happy: () => ({}) },
  'templates.read': {
    status: 200,
    happy: () => ({ values: { key: 'password_changed' } }),
    unknown: { key: 'template_not_found' },
  },
  'templates.replace': {
    status: 200,
    happy: ({ admin }) => ({
      values: { key: 'password_changed' },
      json: texts,
      undo: () => admin.call('DELETE', '/templates/password_changed'),
    }),
    unknown: { key: 'template_not_found' },
    refusals: {
      invalid_request: () => ({ values: { key: 'password_changed' }, json: { ...texts, title: 'x' } }),
      invalid_template: () => ({ values: { key: 'password_changed' }, json: { ...texts, subject: 'Hi {{nmae}}' } }),
      precondition_failed: () => ({ values: { key: 'password_changed' }, json: texts, headers: stale }),
    },
  },
  'templates.reset': {
    status: 200,
    happy: () => ({ values: { key: 'password_changed' } }),
    unknown: { key: 'template_not_found' },
    refusals: { precondition_failed: () => ({ values: { key: 'password_changed' }, headers: stale }) },
  },
  'templates.declare': {
    status: 200,
    happy: ({ admin }) => ({
      values: { key: 'order_paid' },
      json: declared,
      undo: () => admin.call('DELETE', '/templates/order_paid/default'),
    }),
    unknown: { key: 'absolute' },
    refusals: {
      invalid_template: () => ({ values: { key: 'order_paid' }, json: { ...declared, subject: '{{nmae}}' } }),
      too_many_templates: async ({ stack }) => {
        await stack.sql(`insert into auth.project_templates (key, channel, subject, body, variables)
          select 'filler_' || n, 'email', 'x', 'x', '[]' from generate_series(1, 200) as n`)
        return {
          values: { key: 'order_paid' },
          json: declared,
          undo: () => stack.sql(`delete from auth.project_templates where key like 'filler_%'`),
        }
      },
    },
  },
  'templates.withdraw': {
    status: 204,
    happy: async ({ admin }) => {
      await admin.call('PUT', '/templates/order_paid/default', declared)
      return { values: { key: 'order_paid' } }
    },
    unknown: { key: 'absolute' },
    refusals: { invalid_template: () => ({ values: { key: 'confirm_email' } }) },
  },
  'templates.preview': {
    status: 200,
    happy: () => ({ values: { key: 'receipt' }, json: { variables: { order: '1002' } } }),
    unknown: { key: 'template_not_found' },
    refusals: {
      invalid_request: () => ({ values: { key: 'receipt' }, json: { variables: 'none' } }),
      invalid_template: () => ({ values: { key: 'receipt' }, json: { subject: 'Hi {{nmae}}' } }),
    },
  },
  'templates.sendTest': {
    status: 202,
    happy: () => ({ values: { key: 'receipt' }, json: { to: address() } }),
    unknown: { key: 'template_not_found' },
    refusals: {
      invalid_request: () => ({ values: { key: 'receipt' }, json: { to: 'nobody' } }),
      phone_not_allowed: async ({ admin }) => {
        await admin.call('PUT', '/providers/phone/settings', { driver: 'console', allowed_prefixes: ['+49', '+43'] })
        return { values: { key: 'phone_otp' }, json: { to: '+12025550123' } }
      },
      sender_failed: withSettings(
        { mail: { from: 'shop@example.com', transport: 'http', url: 'http://127.0.0.1:9/' } },
        () => ({ values: { key: 'receipt' }, json: { to: address() } }),
      ),
      rate_limited: limited('test_message_per_recipient', named('templates.sendTest'), () => {
        const json = { to: address() }
        return { values: { key: 'receipt' }, json }
      }),
    },
  },
  'vault.list': {
    status: 200,
    happy: async ({ stack }) => {
      await stack.call('/admin/vault/backend/EXAMPLE_SECRET', {
        method: 'PUT',
        json: { value: 'a secret' },
        headers: { apikey: stack.stack.record.service_role_key },
      })
      return {}
    },
  },
  'vault.put': {
    status: 204,
    happy: () => ({ values: { name: 'EXAMPLE_SECRET' }, json: { value: 'a secret' } }),
    unknown: { name: 'absolute' },
    refusals: {
      invalid_secret: () => ({ values: { name: 'EXAMPLE_SECRET' }, json: { value: '' } }),
      vault_full: async ({ stack }) => {
        await stack.sql(`insert into auth.vault_entries (name, sealed) values ('FILLER', repeat('x', $1))`, [
          longestVault,
        ])
        return {
          values: { name: 'EXAMPLE_SECRET' },
          json: { value: 'a secret' },
          undo: () => stack.sql(`delete from auth.vault_entries where name = 'FILLER'`),
        }
      },
    },
  },
  'vault.remove': {
    status: 204,
    happy: () => ({ values: { name: 'EXAMPLE_SECRET' } }),
    unknown: { name: 'absolute' },
    refusals: { invalid_secret: () => ({ values: { name: '1ST-SECRET' } }) },
  },
}
