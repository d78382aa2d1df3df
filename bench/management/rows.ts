/** Fills every table that a list of the management surface reads. */
import pg from 'pg'

/**
 * An id as the module makes it: the time of row `n`, then the number of the row in place of the random part. So the order of the ids is that
 * of the rows, and a range of time is a range of ids.
 */
const ulid = `create function pg_temp.ulid(moment timestamptz, n bigint) returns text language sql immutable as $$
  select ${Array.from({ length: 10 }, (_, index) => digit(9 - index)).join(' || ')} || lpad(n::text, 16, '0')
  from (select (extract(epoch from moment) * 1000)::bigint as ms) time $$`

/** One of the 10 digits of the time. @param place counts from the last one. */
function digit(place: number): string {
  return `substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> ${5 * place} & 31)::int + 1, 1)`
}

/** One row in 10 seconds, up to the present. */
const moment = `(now() - make_interval(secs => 10 * ($1::bigint - n)))`

/** The user of a row, where each user has `count` of them. */
const userOf = (count: number) => `'usr_' || ((n - 1) / ${count} + 1)`

/**
 * The tables, and the statement that fills each with `$1` rows. A fifth of the rows has the value that a filter asks for, so that 1,000 rows
 * have more of them than two pages show. A user has 20 rows of a table at most, however many rows it has.
 */
const fills = {
  'auth.users': `insert into auth.users (id, email, email_confirmed_at, phone, phone_confirmed_at, disabled_at, created_at)
    select 'usr_' || n, 'user' || n || '@example.com', ${moment}, '+49151' || lpad(n::text, 8, '0'), ${moment},
      case when n % 5 = 0 then ${moment} end, ${moment} from generate_series(1, $1::bigint) n`,
  'auth.sessions': `insert into auth.sessions (id, user_id, created_at, expires_at, ended_at, end_reason, ip, user_agent)
    select 'ses_' || n, ${userOf(20)}, ${moment}, case when n % 5 = 1 then ${moment} else now() + interval '30 days' end,
      case when n % 5 = 2 then ${moment} end, case when n % 5 = 2 then 'signed_out' end,
      case when n / 5 % 2 = 0 then inet '198.51.100.7' else inet '10.0.0.0' + n end, 'Mozilla/5.0'
    from generate_series(1, $1::bigint) n`,
  'stack.audit': `insert into stack.audit (id, occurred_at, event_type, outcome, actor_type, actor_id, target_type, target_id, ip)
    select 'aud_' || pg_temp.ulid(${moment}, n), ${moment},
      (array['user.signed_in', 'user.signed_up', 'session.revoked', 'session.revoked_all', 'role.assigned'])[n % 5 + 1],
      case when n / 5 % 5 = 0 then 'failure' else 'success' end, 'user', case when n % 5 = 3 then 'usr_1' else ${userOf(20)} end,
      'user', case when n % 5 = 3 then 'usr_2' else ${userOf(20)} end,
      case when n % 5 = 4 then inet '198.51.100.7' else inet '10.0.0.0' + n end
    from generate_series(1, $1::bigint) n`,
  'webhooks.deliveries': `insert into webhooks.deliveries (id, webhook, request_id, received_at, search, headers, event, outcome, status, duration_ms)
    select 'dlv_' || pg_temp.ulid(${moment}, n), case when n % 2 = 0 then 'github' else 'stripe' end, 'req_' || n, ${moment}, '',
      '{"content-type": "application/json"}', 'invoice.paid', case when n / 2 % 2 = 0 then 'refused' else 'handled' end, 200, 5
    from generate_series(1, $1::bigint) n`,
  'auth.devices': `insert into auth.devices (id, user_id, platform, application_key, environment, key_id, public_key, key_storage, attested_at)
    select 'dev_' || pg_temp.ulid(${moment}, n), ${userOf(20)}, 'ios', 'app', 'production', lpad(n::text, 43, 'k'),
      lpad(n::text, 87, 'p'), 'secure_enclave', ${moment} from generate_series(1, $1::bigint) n`,
  'auth.user_roles': `insert into auth.user_roles (user_id, role)
    select 'usr_' || n, case when n % 5 = 0 then 'auditor' else 'member' end from generate_series(1, $1::bigint) n`,
  'auth.consents': `insert into auth.consents (user_id, document, version, granted_at)
    select ${userOf(20)}, 'terms', 'v' || n % 20, ${moment} from generate_series(1, $1::bigint) n`,
} as const

/** Indexes that serve no constraint: Postgres makes one of sorted rows faster than it adds rows in any order. */
const indexes = `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
  where indrelid = $1::regclass and not exists (select from pg_constraint where conindid = indexrelid)`

/**
 * Fills the tables with rows, and collects their statistics. The sessions that insert check no foreign key, because the rows are good.
 *
 * @param ownerUrl of a superuser.
 */
export async function fillTables(ownerUrl: string, rows: number): Promise<void> {
  // a crash would end the bench anyway, and the writes are measured with a disk that is waited for
  await withOwner(ownerUrl, (owner) => setEach(owner, `set fsync = off`, `set max_wal_size = '16GB'`))
  await withOwner(ownerUrl, (owner) =>
    owner.query(`insert into auth.roles (name) values ('auditor'), ('member'), ('given')`),
  )
  const waiting = Object.entries(fills)
  const fill = () =>
    withOwner(ownerUrl, async (owner) => {
      await owner.query(`set session_replication_role = replica; set maintenance_work_mem = '256MB'`)
      await owner.query(ulid)
      for (let next = waiting.shift(); next; next = waiting.shift()) await fillTable(owner, ...next, rows)
    })
  await Promise.all([fill(), fill()])
  await withOwner(ownerUrl, (owner) => owner.query('vacuum analyze'))
  await withOwner(ownerUrl, (owner) => setEach(owner, 'reset all'))
}

async function fillTable(owner: pg.Client, table: string, statement: string, rows: number): Promise<void> {
  const found = await owner.query<{ name: string; definition: string }>(indexes, [table])
  for (const { name } of found.rows) await owner.query(`drop index ${name}`)
  await owner.query(statement, [rows])
  for (const { definition } of found.rows) await owner.query(definition)
}

async function setEach(owner: pg.Client, ...settings: string[]): Promise<void> {
  for (const setting of settings) await owner.query(`alter system ${setting}`)
  await owner.query('select pg_reload_conf()')
}

async function withOwner(ownerUrl: string, work: (owner: pg.Client) => Promise<unknown>): Promise<void> {
  const owner = new pg.Client(ownerUrl)
  await owner.connect()
  try {
    await work(owner)
  } finally {
    await owner.end()
  }
}
