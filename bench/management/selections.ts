/** The lists of the management surface that grow with the stack, with the rows that their filters find in `rows.ts`. */

/** The query parameters of a list, and the condition that finds the same rows. */
interface Selection {
  query: Record<string, string>
  /** Absent where only the first page is measured. */
  where?: string
  /** The filters that a cursor is sealed for, where they are not those of the query. */
  sealed?: Record<string, string>
  /** It reads at most 10,000 entries (contract 9.4), which are more than 1,000 rows have. So it has no target. */
  isBounded?: boolean
}

/** A list, and the SQL that says where its rows stand. */
export interface List {
  path: string
  /** The name that its cursors are sealed for, and the order of the list. Absent where the list is given whole. */
  paged?: { name: string; table: string; position: string; order: string }
  selections: Selection[]
}

const microseconds = (column: string) => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

export const management = '/v1/management'
/** Half of the events are one of these. */
const sessionEvents = ['session.revoked', 'session.revoked_all']

const usersBy = (position: string, order: string) => ({ name: 'users', table: 'auth.users', position, order })
const sessionsBy = (order: string) => ({
  name: 'sessions',
  table: 'auth.sessions',
  position: `${microseconds(order)}, id`,
  order: `${order} desc, id desc`,
})

const users: List[] = [
  {
    path: `${management}/auth/users`,
    paged: usersBy(`${microseconds('created_at')}, id`, 'created_at desc, id desc'),
    selections: [
      { query: {}, where: 'true' },
      { query: { disabled: 'true' }, where: 'disabled_at is not null' },
      { query: { disabled: 'false' }, where: 'disabled_at is null' },
      { query: { email: 'user7@example.com' } },
      { query: { phone: '+4915100000007' } },
    ],
  },
  {
    path: `${management}/auth/users`,
    paged: usersBy('email collate "C", id', 'email collate "C"'),
    selections: [
      { query: { query: 'user' }, where: 'true' },
      { query: { query: 'user', disabled: 'true' }, where: 'disabled_at is not null' },
    ],
  },
  {
    path: `${management}/auth/users`,
    paged: usersBy('phone collate "C", id', 'phone collate "C"'),
    selections: [{ query: { query: '+49151' }, where: 'true' }],
  },
]

const sessions: List[] = [
  {
    path: `${management}/auth/sessions`,
    paged: sessionsBy('created_at'),
    selections: [
      { query: {}, sealed: { status: 'active' }, where: 'ended_at is null and expires_at > now()' },
      { query: { status: 'ended' }, where: 'ended_at is not null' },
      { query: { user_id: 'usr_7' } },
      { query: { user_id: 'usr_7', status: 'ended' } },
      {
        query: { ip: '198.51.100.7' },
        sealed: { ip: '198.51.100.7', status: 'active' },
        where: `ip = '198.51.100.7' and ended_at is null and expires_at > now()`,
      },
      { query: { ip: '198.51.100.7', status: 'ended' } },
      { query: { ip: '10.0.0.7', status: 'ended' } },
    ],
  },
  {
    path: `${management}/auth/sessions`,
    paged: sessionsBy('expires_at'),
    selections: [
      { query: { status: 'expired' }, where: 'ended_at is null and expires_at <= now()' },
      { query: { status: 'expired', user_id: 'usr_7' } },
      { query: { status: 'expired', ip: '198.51.100.7' } },
    ],
  },
]

/** @param from a moment in the middle of the entries. */
const auditAt = (from: string): List => ({
  path: `${management}/auth/audit`,
  paged: { name: 'audit', table: 'stack.audit', position: 'id', order: 'id desc' },
  selections: [
    { query: {}, where: 'true' },
    { query: { event_type: 'role.assigned' }, where: `event_type = 'role.assigned'` },
    {
      query: { event_type: sessionEvents.join() },
      where: `event_type in ('${sessionEvents.join(`', '`)}')`,
    },
    { query: { actor_id: 'usr_1' }, where: `actor_id = 'usr_1'` },
    { query: { actor_id: 'usr_7' } },
    { query: { target_id: 'usr_2' }, where: `target_id = 'usr_2'` },
    { query: { outcome: 'failure' }, where: `outcome = 'failure'` },
    { query: { ip: '198.51.100.7' }, where: `ip = '198.51.100.7'` },
    { query: { from }, where: `occurred_at >= '${from}'` },
    { query: { to: from }, where: `occurred_at < '${from}'` },
    { query: { actor_id: 'usr_7', outcome: 'success' } },
    { query: { event_type: 'role.assigned', outcome: 'success' }, isBounded: true },
  ],
})

const others: List[] = [
  {
    path: `${management}/webhooks/deliveries`,
    paged: {
      name: 'deliveries',
      table: 'webhooks.deliveries',
      position: `${microseconds('received_at')}, id`,
      order: 'received_at desc, id desc',
    },
    selections: [
      { query: {}, where: 'true' },
      { query: { webhook: 'github' }, where: `webhook = 'github'` },
      { query: { outcome: 'refused' }, where: `outcome = 'refused'` },
      { query: { webhook: 'github', outcome: 'refused' }, where: `webhook = 'github' and outcome = 'refused'` },
    ],
  },
  {
    path: `${management}/auth/devices`,
    paged: { name: 'devices', table: 'auth.devices', position: 'id', order: 'id desc' },
    selections: [{ query: {}, where: 'true' }, { query: { user_id: 'usr_7' } }],
  },
  {
    path: `${management}/auth/roles/auditor/users`,
    paged: { name: 'role holders', table: 'auth.user_roles', position: 'user_id', order: 'user_id' },
    selections: [{ query: {}, sealed: { role: 'auditor' }, where: `role = 'auditor'` }],
  },
  { path: `${management}/auth/users/usr_7/consents`, selections: [{ query: {} }] },
  { path: `${management}/auth/users/usr_7/roles`, selections: [{ query: {} }] },
]

/** @param from a moment in the middle of the entries of the audit trail. */
export const listsAt = (from: string): List[] => [...users, ...sessions, auditAt(from), ...others]
