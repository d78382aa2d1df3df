/**
 * What decides on the management surface (contract 9): accounts and their export, sessions, the audit trail, settings, operators, secrets
 * and deliveries. Classes of the auth module run in Node against a real Postgres.
 */
import * as v from 'valibot'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))
// WebAssembly is compiled by the worker's bundler, and no password is checked here
vi.mock('../../src/auth/passwords/argon2.ts', () => ({ argon2id: async () => new Uint8Array(32) }))

import { AccountExport } from '../../src/auth/accounts/export.ts'
import { AccountsController } from '../../src/auth/accounts/routes.ts'
import { Accounts } from '../../src/auth/accounts/rows.ts'
import { type AccountChange, newAccount } from '../../src/auth/accounts/schemas.ts'
import { AuditController } from '../../src/auth/audit/routes.ts'
import { statementOf } from '../../src/auth/audit/statement.ts'
import { AuditTrail } from '../../src/auth/audit/trail.ts'
import { AdministeredConsentsController } from '../../src/auth/consents/administration.ts'
import { Consents } from '../../src/auth/consents/rows.ts'
import { DeliveriesController } from '../../src/auth/deliveries/routes.ts'
import { Deliveries } from '../../src/auth/deliveries/rows.ts'
import { Devices } from '../../src/auth/devices/rows.ts'
import { lastMigration } from '../../src/auth/health/migrations.ts'
import { HealthController } from '../../src/auth/health/routes.ts'
import { SigningKeys } from '../../src/auth/keys/rows.ts'
import { OperatorsController } from '../../src/auth/operators/routes.ts'
import { Operators } from '../../src/auth/operators/rows.ts'
import { Roles } from '../../src/auth/roles/rows.ts'
import { sealedColumns } from '../../src/auth/sealing/columns.ts'
import { SealingController } from '../../src/auth/sealing/routes.ts'
import { Resealing } from '../../src/auth/sealing/rows.ts'
import { AdministeredSessionsController } from '../../src/auth/sessions/administration.ts'
import { LocalTokensController } from '../../src/auth/sessions/local.ts'
import { SessionRecords } from '../../src/auth/sessions/records.ts'
import { SignIn } from '../../src/auth/sessions/sign-in.ts'
import { Tokens } from '../../src/auth/sessions/tokens.ts'
import { SettingsController } from '../../src/auth/settings/routes.ts'
import { open } from '../../src/auth/shared/seal.ts'
import type { User } from '../../src/auth/users/rows.ts'
import { placeOf, VaultMirror } from '../../src/auth/vault/mirror.ts'
import { VaultController } from '../../src/auth/vault/routes.ts'
import { VaultRows } from '../../src/auth/vault/rows.ts'
import { Database } from '../../src/sdk/ambient.ts'
import { HttpError } from '../../src/sdk/errors.ts'
import type { UserT } from '../../src/sdk/user.ts'
import { accountParts, addAccount, browser } from '../support/account-parts.ts'
import { useAuthModule } from '../support/auth-module.ts'

const auth = useAuthModule()
const { request, codeOf, atOnce, sql } = auth

const leaked = 'a password that leaked'
const breaches = {
  refuse: async (password: string) => {
    if (password === leaked) throw new HttpError(400, 'leaked', 'it has leaked')
  },
} as never
const parts = accountParts()
const { audit, challenges, delivery, factors, limits, notices, outbox, passwords } = parts
const { pending, recovery, sessions, settings, told, tokens: oneTime, users } = parts
const senders = { transportOf: async () => ({}) } as never
const records = new SessionRecords()
const tokens = new Tokens(new SigningKeys())
const [consents, devices, roles] = [new Consents(), new Devices(), new Roles()]
const exports = new AccountExport(consents, devices, factors, recovery, roles, records)
const accounts = new AccountsController(
  new Accounts(outbox, users),
  audit,
  breaches,
  challenges,
  delivery,
  devices,
  exports,
  factors,
  limits,
  notices,
  passwords,
  recovery,
  pending,
  senders,
  sessions,
  settings,
  users,
)
const ofSessions = new AdministeredSessionsController(audit, records, sessions, users)
const trail = new AuditController(new AuditTrail())
const ofSettings = new SettingsController(audit, settings)
const ofOperators = new OperatorsController(audit, new Operators(), users)
const vault = new VaultController(audit, new VaultRows())
const sealing = new SealingController(new Resealing(audit))
const deliveries = new DeliveriesController(new Deliveries())

const http = new Request('https://stack.example/v1', {
  headers: { 'cf-connecting-ip': '192.0.2.9', 'user-agent': 'Operator/1' },
})
const by = [null, http, 'req_1'] as const
/** A user of no test. */
const stranger = 'usr_stranger'
let id: string
/** Number of rows that have an id of their own. */
let count = 0

beforeAll(() => sql('insert into auth.users (id) values ($1)', [stranger]))
beforeEach(async () => {
  told.length = 0
  ;({ id } = await addAccount(auth))
})

const begin = (userId = id) => request(() => sessions.begin(userId, ['pwd'], browser))
const change = (json: AccountChange, userId = id) => accounts.change(userId, json, ...by)
const made = (json: object) => v.parse(newAccount, json)
const entriesOf = (target: string) =>
  sql<{ event_type: string; actor_type: string; actor_id: string | null; details: Record<string, unknown> }>(
    'select event_type, actor_type, actor_id, details from stack.audit where target_id = $1 order by occurred_at, id',
    [target],
  )
const eventsOf = async (target: string) => (await entriesOf(target)).map(({ event_type }) => event_type).sort()
const endOf = async (session: string) =>
  (await sql<{ end_reason: string | null }>('select end_reason from auth.sessions where id = $1', [session]))[0]!
    .end_reason

describe('an account', () => {
  it('that is made has an entry, and its password fits the policy and is in no breach', async () => {
    const create = (password: string) => () =>
      accounts.create(made({ email: `${password.length}@made.example`, password }), ...by)
    expect(await codeOf(create('short'))).toBe('invalid_password')
    expect(await codeOf(create(leaked))).toBe('leaked')
    const account = await request(create('correct horse'))
    expect(await entriesOf(account.id)).toMatchObject([{ event_type: 'user.created', details: { password: 'set' } }])
    expect(account).toMatchObject({ email_verified: false, disabled: false })
  })

  it('is found by the beginning of its address, whole and page by page', async () => {
    for (const name of ['aa', 'ab', 'b'])
      await request(() => accounts.create(made({ email: `${name}@query.example` }), ...by))
    const list = (query?: string, disabled?: string, limit?: string, cursor?: string) =>
      request(() => accounts.list(limit, cursor, undefined, undefined, query, disabled))
    const addresses = async (...asked: Parameters<typeof list>) => (await list(...asked)).data.map(({ email }) => email)
    expect(await addresses('A')).toEqual(['aa@query.example', 'ab@query.example'])
    const first = await list('a', undefined, '1')
    expect([first.data.length, first.has_more]).toEqual([1, true])
    expect(await addresses('a', undefined, '1', first.next_cursor!)).toEqual(['ab@query.example'])
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await addresses(undefined, 'true')).toEqual([`${id}@example.com`])
    expect(await addresses('a', 'true')).toEqual([])
    expect(await codeOf(() => list('x'.repeat(255)))).toBe('invalid_request')
    expect(await codeOf(() => list(undefined, 'yes'))).toBe('invalid_request')
  })

  it('with another address has not proved it, and what was sent to the old one is void', async () => {
    const phone = '+4915100000002'
    await sql('update auth.users set phone = $2, phone_confirmed_at = now() where id = $1', [id, phone])
    const issue = (purpose: 'phone_sign_in' | 'reset_password', userId: string | null, target: string) =>
      request(() => oneTime.issue({ purpose, userId, target }, 3_600, { seconds: 600, digits: 6 }))
    await issue('reset_password', id, `${id}@example.com`)
    await issue('phone_sign_in', null, phone)
    await request(() => outbox.queue({ template: 'email_change_notice', recipient: 'x@example.com', userId: id }))
    expect(await request(() => change({ email: 'new@example.com' }))).toMatchObject({
      email: 'new@example.com',
      email_verified: false,
      phone_verified: true,
    })
    expect(told).toEqual([`email_changed ${id}@example.com`])
    expect(await sql('select from auth.one_time_tokens where user_id = $1 or target = $2', [id, phone])).toEqual([])
    expect(await sql('select status from auth.outbox where user_id = $1', [id])).toEqual([{ status: 'dropped' }])
    expect(await request(() => change({ phone: '+4915100000003' }))).toMatchObject({ phone_verified: false })
    expect(await eventsOf(id)).toEqual(['user.updated', 'user.updated'])
  })

  it('takes nothing of another one, keeps a name of its own, and a guest gets none', async () => {
    const email = `${id}@example.com`
    await sql(`insert into auth.users (id, phone) values ('usr_other', '+4915100000004')`)
    await sql(`insert into auth.users (id, is_anonymous) values ('usr_guest', true)`)
    expect(await codeOf(() => change({ email }, 'usr_other'))).toBe('email_taken')
    expect(await codeOf(() => change({ phone: '+4915100000004' }))).toBe('phone_taken')
    expect(await codeOf(() => change({ email: 'guest@example.com' }, 'usr_guest'))).toBe('conflict')
    expect(await codeOf(() => change({ email: null }))).toBe('invalid_request')
    expect(await codeOf(() => change({ phone_confirmed: true }))).toBe('invalid_request')
    expect(await codeOf(() => change({}, 'usr_unknown'))).toBe('user_not_found')
  })

  it('that is disabled has no session, and one that is deleted leaves an entry', async () => {
    const session = await begin()
    await request(() => change({ disabled: true }))
    expect(await endOf(session.id)).toBe('user_disabled')
    expect(await entriesOf(id)).toMatchObject([{ event_type: 'user.disabled', details: { sessions_ended: 1 } }])
    await request(() => accounts.remove(id, { id: 'usr_operator' } as UserT, http, 'req_1'))
    expect((await entriesOf(id)).at(-1)).toMatchObject({
      event_type: 'user.deleted',
      actor_type: 'operator',
      actor_id: 'usr_operator',
    })
    expect(await codeOf(() => accounts.remove(id, ...by))).toBe('user_not_found')
  })

  it('that is disabled and enabled by thirty calls at once has a trail that alternates', async () => {
    await atOnce('auth.users', (n) => change({ disabled: n % 2 === 0 }))
    const events = await eventsOf(id)
    const countOf = (event: string) => events.filter((one) => one === event).length
    const { disabled } = await request(() => accounts.read(id))
    expect(countOf('user.disabled') - countOf('user.enabled')).toBe(disabled ? 1 : 0)
  })
})

describe('an export', () => {
  const exported = async () => JSON.parse(await (await request(() => accounts.export(id, ...by))).text())
  const entry = (target: string, actorType: string, actor: string | null, ip: string) =>
    sql(
      `insert into stack.audit (id, occurred_at, event_type, outcome, actor_type, actor_id, target_type, target_id, ip, user_agent)
        values ('aud_' || lpad($1, 26, '0'), now(), 'user.updated', 'success', $2, $3, 'user', $4, $5::text::inet, 'Agent/' || $5::text)`,
      [String(count++), actorType, actor, target, ip],
    )

  it('holds what is the user’s own, and nothing of those who administer or of other users', async () => {
    await entry(id, 'user', id, '192.0.2.1')
    await entry(id, 'operator', 'usr_operator', '192.0.2.2')
    await entry(stranger, 'user', stranger, '192.0.2.3')
    const message = { template: 'confirm_email', recipient: 'own@example.com' } as const
    await request(() => outbox.queue({ ...message, userId: id, variables: { name: 'planted' } }))
    await request(() => outbox.queue({ ...message, recipient: 'another@example.com', userId: null }))
    await sql(
      `insert into auth.identities (provider, subject, user_id) values ('google', $1, $2), ('google', $3, $4)`,
      ['own', id, 'another', stranger],
    )
    const answer = await request(() => accounts.export(id, ...by))
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const document = (await answer.json()) as unknown as Record<string, Record<string, unknown>[]>
    expect(document['audit']!.map(({ ip, user_agent }) => [ip, user_agent])).toEqual([
      [null, null],
      ['192.0.2.1', 'Agent/192.0.2.1'],
    ])
    expect(document['messages']!.map(({ recipient }) => recipient)).toEqual(['own@example.com'])
    expect(document['identities']!.map(({ subject }) => subject)).toEqual(['own'])
    expect(JSON.stringify(document)).not.toContain('planted')
    expect(await eventsOf(id)).toContain('user.exported')
  })

  it('names the lists that it has cut at 5,000 rows', async () => {
    await sql(
      `insert into auth.sessions (id, user_id, expires_at) select 'ses_' || $1::text || '_' || n, $1, now() from generate_series(1, 5001) n`,
      [id],
    )
    const { sessions, truncated } = await exported()
    expect([sessions.length, truncated]).toEqual([5_000, ['sessions']])
  })
})

describe('the credentials of a user', () => {
  it('are taken all at once, and a sign-in that is under way ends', async () => {
    const session = await begin()
    const before = (await request(() => users.byId(id))) as User
    await request(() => passwords.set(id, '$argon2id$1'))
    await request(() => factors.enrol(id, '', 'secret'))
    await request(() => recovery.renew(id))
    const challenge = await request(() => challenges.begin(id, ['pwd']))
    await request(() =>
      oneTime.issue({ purpose: 'reset_password', userId: id, target: 'x' }, 3_600, { seconds: 1, digits: 6 }),
    )
    await sql(`insert into auth.identities (provider, subject, user_id) values ('google', $1, $1)`, [id])
    const flow = `insert into auth.oauth_flows (state_digest, provider, client_key, sealed, redirect_to, app_challenge, expires_at, link_user_id)
      values ($1, 'google', 'web', 'x', 'x', 'x', now() + interval '1 hour', $2)`
    await sql(flow, [`flow ${id}`, id])
    for (const [n, person] of [
      { email: `${id}@example.com` },
      { provider: 'google', subject: id },
      { email: 'usr_x@example.com', provider: 'google', subject: 'x' },
    ].entries())
      await sql(
        `insert into auth.handoff_codes (code_digest, provider, client_key, app_challenge, expires_at, person)
          values ($1, 'google', 'web', 'x', now() + interval '1 hour', $2)`,
        [`code ${n} of ${id}`, person],
      )
    await sql(
      `insert into auth.devices (id, user_id, platform, application_key, environment, key_id, public_key, key_storage)
        values ('dev_' || lpad($2, 26, '0'), $1, 'ios', 'app', 'production', lpad($2, 43, 'k'), repeat('p', 87), 'tee')`,
      [id, String(count++)],
    )
    const { revoked } = await request(() => accounts.revokeCredentials(id, ...by))
    expect(revoked).toEqual({ password: 1, sessions: 1, identities: 1, factors: 1, devices: 1, one_time_tokens: 1 })
    expect(await endOf(session.id)).toBe('credential_revoked')
    expect(await request(() => recovery.countOf(id))).toBe(null)
    expect(await request(() => challenges.read(challenge))).toBe(undefined)
    for (const table of ['password_credentials', 'identities', 'mfa_factors', 'one_time_tokens'])
      expect([table, await sql(`select from auth.${table} where user_id = $1`, [id])]).toEqual([table, []])
    expect(await sql('select from auth.oauth_flows where link_user_id = $1', [id])).toEqual([])
    expect(await sql(`select code_digest from auth.handoff_codes where code_digest like '%' || $1`, [id])).toEqual([
      { code_digest: `code 2 of ${id}` },
    ])
    expect((await entriesOf(id)).map(({ details }) => details)).toEqual([revoked])
    expect(await request(() => users.signedIn(before))).toBe(false)
    await request(() => accounts.revokeCredentials(id, ...by))
    expect(await eventsOf(id)).toEqual(['credentials.revoked'])
  })
})

describe('a mail to choose another password', () => {
  const reset = (revoke_sessions: boolean, userId = id) =>
    accounts.resetPassword(userId, { mode: 'email', revoke_sessions }, ...by)

  it('voids what was sent before, and ends the sessions unless the body says otherwise', async () => {
    const session = await begin()
    const older = await request(() => outbox.queue({ template: 'reset_password', recipient: 'x', userId: id }))
    await request(() => reset(false))
    expect(await endOf(session.id)).toBe(null)
    expect(await sql('select status from auth.outbox where id = $1', [older])).toEqual([{ status: 'dropped' }])
    await request(() => reset(true))
    expect(await endOf(session.id)).toBe('revoked_all')
    expect((await entriesOf(id)).map(({ event_type, details }) => [event_type, details])).toEqual([
      ['password.reset_requested', { sessions_ended: 0 }],
      ['password.reset_requested', { sessions_ended: 1 }],
    ])
  })

  it('is sent three times a minute, and to no disabled user', async () => {
    const codes: string[] = []
    for (let time = 0; time < 4; time++) codes.push(await codeOf(() => reset(false)))
    expect(codes).toEqual(['done', 'done', 'done', 'rate_limited'])
    await sql(`insert into auth.users (id, email, disabled_at) values ('usr_off', 'off@example.com', now())`)
    expect(await codeOf(() => reset(false, 'usr_off'))).toBe('conflict')
    expect(await codeOf(() => reset(false, 'usr_unknown'))).toBe('user_not_found')
  })
})

describe('the sessions of all users', () => {
  const list = (user_id?: string, status?: string, ip?: string) =>
    request(() => ofSessions.listAll(undefined, undefined, user_id, status, ip))
  const ids = async (...asked: Parameters<typeof list>) => (await list(...asked)).data.map((one) => one.id)

  it('are told apart by user, state and address', async () => {
    const [live, ended, expired] = [await begin(), await begin(), await begin()].map((one) => one.id)
    await request(() => sessions.end(ended!, 'revoked'))
    await sql('update auth.sessions set expires_at = now() where id = $1', [expired])
    await begin(stranger)
    expect(await ids(id)).toEqual([live])
    expect([await ids(id, 'ended'), await ids(id, 'expired')]).toEqual([[ended], [expired]])
    expect([await ids(id, 'active', '192.0.2.7'), await ids(id, 'active', '192.0.2.8')]).toEqual([[live], []])
    const [one] = (await list(id, 'expired')).data
    expect([one!.status, one!.ip]).toEqual(['expired', '192.0.2.7'])
    expect(await codeOf(() => list(id, 'active', '192.0.2'))).toBe('invalid_request')
    expect(await codeOf(() => list(id, 'all'))).toBe('invalid_request')
  })

  it('end once, with one entry, and for the users who are named', async () => {
    const [one, two, strange] = [await begin(), await begin(), await begin(stranger)].map((session) => session.id)
    const revoke = () => ofSessions.revoke(one!, ...by)
    const [first, second] = [await request(revoke), await request(revoke)]
    expect([first.end_reason, first.ended_at]).toEqual(['revoked', second.ended_at])
    expect(await codeOf(() => ofSessions.revoke('ses_unknown', ...by))).toBe('session_not_found')
    const revokeUsers = () => ofSessions.revokeOfUsers({ user_ids: [id, 'usr_unknown'] }, ...by)
    expect(await request(revokeUsers)).toEqual({ processed: 1, more: false })
    expect(await request(revokeUsers)).toEqual({ processed: 0, more: false })
    expect([await endOf(one!), await endOf(two!), await endOf(strange!)]).toEqual(['revoked', 'revoked_all', null])
    expect(await request(() => ofSessions.revokeAll(id, ...by))).toEqual({ user_id: id, ended: 0 })
    await begin()
    expect(await request(() => ofSessions.revokeAll(id, ...by))).toEqual({ user_id: id, ended: 1 })
    expect(await eventsOf(id)).toEqual(['session.revoked', 'session.revoked_all', 'session.revoked_all'])
    expect(await codeOf(() => ofSessions.revokeAll('usr_unknown', ...by))).toBe('user_not_found')
  })

  it('end a thousand in a call, which says that there are more', async () => {
    await sql(
      `insert into auth.sessions (id, user_id, expires_at) select 'ses_' || $1::text || '_' || n, $1, now() from generate_series(1, 1001) n`,
      [id],
    )
    const revoke = () => request(() => ofSessions.revokeOfUsers({ user_ids: [id] }, ...by))
    expect([await revoke(), await revoke()]).toEqual([
      { processed: 1_000, more: true },
      { processed: 1, more: false },
    ])
  })

  it('begin with an entry, and a notice to an address that its owner has confirmed', async () => {
    const signIns = new SignIn(audit, notices, sessions, tokens, users)
    const from = async (user_agent: string) => {
      const user = (await request(() => users.byId(id))) as User
      await request(() => signIns.begin(user, ['pwd'], { ...browser, user_agent }))
    }
    await from('One/1')
    await from('Two/1')
    await from('Two/1')
    expect(told).toEqual([`new_sign_in ${id}@example.com`])
    await sql('update auth.users set email_confirmed_at = null where id = $1', [id])
    await from('Three/1')
    expect(told).toHaveLength(1)
    expect(await eventsOf(id)).toEqual(Array(4).fill('user.signed_in'))
  })
})

describe('10.5 a session without a sign-in', () => {
  const issue = (userId = id) => new LocalTokensController(audit, sessions, tokens, users).issue(userId, http, 'req_1')

  it('is issued by a local stack alone, for a user who may sign in, with an entry', async () => {
    expect(await codeOf(issue)).toBe('not_found')
    auth.env['STACK_LOCAL'] = 'false'
    expect(await codeOf(issue)).toBe('not_found')
    auth.env['STACK_LOCAL'] = 'true'
    expect(await codeOf(issue)).toBe('done')
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await codeOf(issue)).toBe('user_not_found')
    delete auth.env['STACK_LOCAL']
    expect(await eventsOf(id)).toEqual(['session.issued_locally'])
  })
})

describe('9.16 the audit trail', () => {
  type Asked = Partial<
    Record<'limit' | 'cursor' | 'types' | 'actor' | 'target' | 'outcome' | 'ip' | 'from' | 'to', string>
  >
  const list = ({ limit, cursor, types, actor, target, outcome, ip, from, to }: Asked) =>
    request(() => trail.list(limit, cursor, types, actor, target, outcome, ip, from, to))
  const found = async (asked: Asked) => (await list(asked)).data.length

  it('has an entry of a failure although the request fails, and none of a change that is undone', async () => {
    const entry = { event: 'user.updated', actor: { type: 'user', id }, target: { type: 'user', id } } as const
    const failed = (work: () => Promise<void>) =>
      request(async () => {
        await work()
        throw new HttpError(401, 'refused', 'it is refused')
      }).catch(() => {})
    await failed(() => audit.record(entry))
    expect(await eventsOf(id)).toEqual([])
    await failed(() => Database.$apart((own) => audit.record({ ...entry, client: browser }, own)))
    expect((await list({ target: id })).data).toMatchObject([
      { actor: { type: 'user', id, label: `${id}@example.com` }, ip: '192.0.2.7', user_agent: 'Browser/1' },
    ])
  })

  it('is narrowed by each filter, alone and together, and a wrong one is refused', async () => {
    const record = (event: 'user.updated' | 'user.exported', outcome: 'success' | 'failure') =>
      request(() =>
        audit.record({ event, outcome, actor: { type: 'user', id }, target: { type: 'user', id }, client: browser }),
      )
    await record('user.updated', 'success')
    await record('user.exported', 'failure')
    expect(await found({ target: id })).toBe(2)
    expect([await found({ target: id, outcome: 'failure' }), await found({ target: id, types: 'role.*' })]).toEqual([
      1, 0,
    ])
    expect([await found({ actor: id, ip: '192.0.2.7' }), await found({ actor: id, ip: '192.0.2.8' })]).toEqual([2, 0])
    const [past, future] = ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00Z']
    expect([await found({ target: id, from: past, to: future }), await found({ target: id, to: past })]).toEqual([2, 0])
    expect(await found({ target: id, from: future })).toBe(0)
    const types = Array.from({ length: 101 }, (_, n) => `a.${n}`).join()
    for (const asked of [
      { types },
      { ip: 'nowhere' },
      { outcome: 'maybe' },
      { from: '2026-02-30T00:00:00Z' },
      { from: '1969-12-31T23:59:59Z' },
      { to: '2026-01-01' },
    ])
      expect([asked, await codeOf(() => list(asked))]).toEqual([asked, 'invalid_request'])
  })

  it('reads 10,000 entries for a page of several filters, and says that it goes on', async () => {
    await sql(
      `insert into stack.audit (id, occurred_at, event_type, outcome, actor_type, target_type, target_id)
        select 'aud_' || lpad(n::text, 26, '0'), now(), 'user.signed_in', case n when 1 then 'failure' else 'success' end, 'system', 'user', $1
        from generate_series(100000, 110000) n`,
      [id],
    )
    await sql(`update stack.audit set outcome = 'failure' where id = 'aud_' || lpad('100000', 26, '0')`)
    const first = await list({ target: id, outcome: 'failure' })
    expect([first.data, first.has_more]).toEqual([[], true])
    expect(await found({ target: id, outcome: 'failure', cursor: first.next_cursor! })).toBe(1)
    expect(statementOf({ target_id: id }, { limit: 50, after: undefined }).most).toBe(51)
  })
})

describe('9.8 the settings', () => {
  const document = (site_name: string) => ({ settings: { site_name }, ignored: [], errors: [] })
  const replace = (site_name: string, tag?: string) => ofSettings.replace(document(site_name), tag, ...by)

  it('of thirty writers with one entity tag have one, and each write has an entry', async () => {
    const before = await request(() => ofSettings.read())
    expect(before.headers.get('cache-control')).toBe('no-store')
    const tag = before.headers.get('etag')!
    const codes = await atOnce('auth.settings', (n) => replace(`n ${n}`, tag))
    expect(codes.filter((code) => code === 'done')).toHaveLength(1)
    expect(new Set(codes)).toEqual(new Set(['done', 'precondition_failed']))
    const [{ events }] = (await sql(
      `select count(*)::int as events from stack.audit where event_type = 'settings.updated'`,
    )) as [{ events: number }]
    expect(events).toBe(1)
    const now = await request(() => replace('n'))
    expect((await request(() => replace('n', now.headers.get('etag')!))).status).toBe(200)
    expect(await eventsOf('settings')).toHaveLength(2)
    await sql(`update auth.settings set document = '{}'`)
  })
})

describe('9.7 operators', () => {
  it('are added and removed once, each with an entry', async () => {
    const add = () => request(() => ofOperators.add(id, http, 'req_1'))
    const remove = () => request(() => ofOperators.remove(id, http, 'req_1'))
    const listed = async () => (await request(() => ofOperators.list())).data.map(({ user_id }) => user_id)
    await add()
    expect([await listed(), await eventsOf(id)]).toEqual([[id], ['operator.added']])
    await add()
    await remove()
    expect([await listed(), await eventsOf(id)]).toEqual([[], ['operator.added', 'operator.removed']])
    await remove()
    expect(await eventsOf(id)).toEqual(['operator.added', 'operator.removed'])
    expect(await codeOf(() => ofOperators.add('usr_unknown', http, 'req_1'))).toBe('user_not_found')
  })
})

describe('9.15 the sealing key', () => {
  const put = (name: string) => request(() => vault.put(name, { value: `value of ${name}` }, ...by))
  const rotate = () => request(() => sealing.rotate(...by))

  it('seals every column that holds sealed values', async () => {
    const columns = await sql<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns
        where table_schema = 'auth' and column_name like 'sealed%' order by 1`,
    )
    expect(sealedColumns.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(
      columns.map(({ name }) => name),
    )
  })

  it('is followed by what it opens; a value that it does not open stays, and is named', async () => {
    await sql('delete from auth.signing_keys')
    const former = auth.env['SEALING_KEY']
    for (const name of ['ONE', 'TWO', 'MOVED']) await put(name)
    await request(() => factors.enrol(id, '', 'secret'))
    await sql(`update auth.vault_entries set name = 'ELSEWHERE' where name = 'MOVED'`)
    await sql(
      `insert into auth.oauth_flows (state_digest, provider, client_key, sealed, redirect_to, app_challenge, expires_at, consumed_at)
        values ('used', 'google', 'web', 'x', 'x', 'x', now() + interval '1 hour', now())`,
    )
    auth.env['SEALING_KEY'] = 'the next key'
    const missing = (await rotate()) as HttpError
    expect([missing.code, missing.message.includes('ELSEWHERE')]).toEqual(['sealing_key_missing', true])
    auth.env['SEALING_KEY_PREVIOUS'] = former
    const unreadable = [{ kind: 'secret', id: 'ELSEWHERE' }]
    const first = (await rotate()) as { sealed: number }
    expect(first).toMatchObject({ remaining: 1, unreadable })
    expect(first.sealed).toBeGreaterThanOrEqual(3)
    expect(await rotate()).toEqual({ sealed: 0, remaining: 1, unreadable })
    delete auth.env['SEALING_KEY_PREVIOUS']
    const [one] = await sql<{ sealed: string }>(`select sealed from auth.vault_entries where name = 'ONE'`)
    expect(await request(() => open(one!.sealed, placeOf('ONE')))).toBe('value of ONE')
    const entries = await sql<{ details: { of: string; sealed: number } }>(
      `select details from stack.audit where event_type = 'key.rotated' order by id`,
    )
    expect(entries.map(({ details }) => details)).toContainEqual({ kind: 'sealing', sealed: 2, of: 'secret' })
    auth.env['SEALING_KEY'] = former
    await sql('delete from auth.vault_entries; delete from auth.mfa_factors')
  })
})

describe('9.9 the vault', () => {
  it('has an entry of each name that is set or removed, and a mirror that one bad value does not stop', async () => {
    const write = (name: string) => request(() => vault.put(name, { value: 'secret' }, ...by))
    const remove = () => request(() => vault.remove('FIRST', ...by))
    await write('FIRST')
    await write('SECOND')
    await sql(`update auth.vault_entries set sealed = 'AAAA' where name = 'FIRST'`)
    const keys = { current: async () => undefined } as never
    const mirror = () => request(() => new VaultMirror(keys, new VaultRows(), keys).mirrorSecrets(null))
    expect((await mirror())!.entries).toEqual({ SECOND: 'secret' })
    await remove()
    expect(await eventsOf('FIRST')).toEqual(['secret.removed', 'secret.set'])
    await remove()
    expect(await eventsOf('FIRST')).toEqual(['secret.removed', 'secret.set'])
    expect(await codeOf(() => vault.put('a-b', { value: 'x' }, ...by))).toBe('invalid_secret')
    await sql('delete from auth.vault_entries')
  })
})

describe('9.12 deliveries', () => {
  const plant = (name: string, webhook: string, outcome: string, body: Buffer | null = null) =>
    sql(
      `insert into webhooks.deliveries (id, webhook, request_id, received_at, search, headers, body, outcome, status, duration_ms)
        values ($1, $2, 'req_1', '2026-01-01T00:00:00Z', '', '{}', $3, $4, 200, 1)`,
      [name, webhook, body, outcome],
    )
  const list = (webhook?: string, outcome?: string, limit?: string, cursor?: string) =>
    request(() => deliveries.list(limit, cursor, webhook, outcome))
  const ids = async (...asked: Parameters<typeof list>) => (await list(...asked)).data.map((one) => one.id)

  it('are listed by webhook and outcome, page by page, without gap where many have one time', async () => {
    await plant('dlv_1', 'orders', 'handled')
    await plant('dlv_2', 'orders', 'refused')
    await plant('dlv_3', 'invoices', 'handled')
    expect(await ids()).toEqual(['dlv_3', 'dlv_2', 'dlv_1'])
    expect([await ids('orders'), await ids('orders', 'refused')]).toEqual([['dlv_2', 'dlv_1'], ['dlv_2']])
    const first = await list(undefined, undefined, '2')
    expect([first.has_more, await ids(undefined, undefined, '2', first.next_cursor!)]).toEqual([true, ['dlv_1']])
    expect(await codeOf(() => list('orders', 'lost'))).toBe('invalid_request')
  })

  it('are read with the first 256 KiB of their body, whatever its bytes', async () => {
    await plant('dlv_4', 'bodies', 'handled', Buffer.from(`a${'é'.repeat(131_073)}`))
    await plant('dlv_5', 'bodies', 'handled', Buffer.from([0xff, 0xfe]))
    const read = (name: string) => request(() => deliveries.read(name))
    const long = (await read('dlv_4')).body!
    expect([long.encoding, long.bytes, long.is_complete, Buffer.byteLength(long.content)]).toEqual([
      'utf-8',
      262_147,
      false,
      262_143,
    ])
    expect((await read('dlv_5')).body).toEqual({ encoding: 'base64', content: '//4=', bytes: 2, is_complete: true })
    expect(await codeOf(() => read('dlv_unknown'))).toBe('delivery_not_found')
  })
})

describe('consents of a user', () => {
  it('are read for a user that there is', async () => {
    const list = (userId: string) => request(() => new AdministeredConsentsController(consents, users).listOf(userId))
    await request(() => consents.grant(id, 'terms', '1', browser))
    expect((await list(id)).data).toMatchObject([{ document: 'terms', ip: '192.0.2.7', source: 'user' }])
    expect(await codeOf(() => list('usr_unknown'))).toBe('user_not_found')
  })
})

describe('9.13 the health of the stack', () => {
  const health = async () => {
    const answer = await request(() => new HealthController().read())
    const { migrations } = (await answer.json()) as { migrations: string }
    return [answer.status, migrations, answer.headers.get('cache-control')]
  }

  it('is unavailable where a migration is missing or the database does not answer', async () => {
    const named = `where set_name = 'auth' and name = $1`
    expect(await health()).toEqual([200, 'current', 'no-store'])
    await sql(`update stack.migrations set set_name = 'away' ${named}`, [lastMigration])
    expect(await health()).toEqual([503, 'pending', 'no-store'])
    await sql('alter table stack.migrations rename to away')
    expect(await health()).toEqual([503, 'unknown', 'no-store'])
    await sql('alter table stack.away rename to migrations')
    await sql(`update stack.migrations set set_name = 'auth' where set_name = 'away'`)
  })
})
