/** Writes of the management surface, beside one statement by hand that leaves the same rows. */
import pg from 'pg'
import { sealWith } from '../../src/wire/sealing.ts'
import { ms, printRow } from '../print-row.ts'
import { interleave, median, ratios } from '../statistics.ts'
import type { ManagedStack } from './stack.ts'

/** Number of rounds that are not counted: V8 has not optimized the code yet. */
const warm = 3
/** Number of counted rounds: enough for a median beside other work on the machine. */
const rounds = 9
/** Writes of a round, whose median counts. */
const writes = 5

/** A write over HTTP and by hand. Each call gets a number of its own, so that each one changes something. */
interface Write {
  label: string
  own: (number: number) => Promise<unknown>
  byHand: (number: number) => Promise<unknown>
}

/** An entry of the audit trail beside the write, as the module makes one. @param rest the values of `target_type` and `target_id`. */
const entry = (event: string, rest: string) =>
  `insert into stack.audit (id, event_type, outcome, actor_type, target_type, target_id)
   select 'aud_' || upper(translate(left(replace(gen_random_uuid()::text, '-', ''), 26), 'ilou', '0000')), '${event}', 'success',
     'service', ${rest} from written`

/** @param stack one whose users `usr_1` and up hold no role `given` and are no operators. */
export async function benchWrites(stack: ManagedStack): Promise<void> {
  console.log(
    '\nwrites, beside one statement by hand of the same login over a kept connection; medians of interleaved rounds',
  )
  const client = new pg.Client(stack.authUrl)
  await client.connect()
  try {
    await client.query('set role auth_admin')
    for (const write of await writesOf(stack, client)) await compare(write)
  } finally {
    await client.end()
  }
}

async function writesOf({ send, keys }: ManagedStack, client: pg.Client): Promise<Write[]> {
  const byHand = (write: string, event: string, target: string, values: readonly unknown[]) =>
    client.query(`with written as (${write}) ${entry(event, target)}`, [...values])
  const settings = JSON.parse(await send('GET', '/v1/management/auth/settings')) as Record<string, unknown>
  const template = '/v1/management/auth/templates/password_changed'
  const { body } = JSON.parse(await send('GET', template)) as { body: string }
  const seal = (number: number) => sealWith(keys.sealing_key, `value ${number}`, 'vault backend BENCH')
  return [
    {
      label: 'a role is assigned',
      own: (number) => send('PUT', `/v1/management/auth/users/usr_${number}/roles/given`),
      byHand: (number) =>
        byHand(
          `insert into auth.user_roles (user_id, role) values ($1, 'given') on conflict do nothing returning user_id`,
          ...(['role.assigned', `'user', user_id`, [`usr_${number}`]] as const),
        ),
    },
    {
      label: 'the settings are replaced',
      own: (number) =>
        send('PUT', '/v1/management/auth/settings', { ...settings, audit_retention_days: 7 + (number % 3_000) }),
      byHand: (number) =>
        byHand(
          `update auth.settings set document = $1, revision = revision + 1, updated_at = now() returning revision`,
          ...(['settings.updated', `'settings', 'settings'`] as const),
          [JSON.stringify({ ...settings, audit_retention_days: 7 + (number % 3_000) })],
        ),
    },
    {
      label: 'a template is replaced',
      own: (number) => send('PUT', template, { subject: `Subject ${number}`, body }),
      byHand: (number) =>
        byHand(
          `insert into auth.templates (key, subject, body, revision, updated_by)
           values ('password_changed', $1, $2, nextval('auth.template_revisions'), 'service')
           on conflict (key) do update set subject = excluded.subject, body = excluded.body, revision = excluded.revision,
             updated_at = now(), updated_by = excluded.updated_by returning key`,
          ...(['template.updated', `'template', key`] as const),
          [`Subject ${number}`, body],
        ),
    },
    {
      label: 'a secret is set',
      own: (number) => send('PUT', '/admin/vault/backend/BENCH', { value: `value ${number}` }),
      byHand: async (number) =>
        byHand(
          `insert into auth.vault_entries (name, sealed) values ('BENCH', $1)
           on conflict (name) do update set sealed = excluded.sealed, updated_at = now() returning name`,
          ...(['secret.set', `'secret', name`] as const),
          [await seal(number)],
        ),
    },
    {
      label: 'an operator is added',
      own: (number) => send('PUT', `/v1/management/auth/operators/usr_${number}`),
      byHand: (number) =>
        byHand(
          `insert into auth.operators (user_id) values ($1) on conflict do nothing returning user_id`,
          ...(['operator.added', `'user', user_id`] as const),
          [`usr_${number}`],
        ),
    },
  ]
}

async function compare({ label, own, byHand }: Write): Promise<void> {
  let number = 0
  const turn = (write: Write['own']) => async () => {
    const waits: number[] = []
    for (let count = 0; count < writes; count++) {
      number++
      const began = performance.now()
      await write(number)
      waits.push(performance.now() - began)
    }
    return median(waits)
  }
  const variants = { own: turn(own), byHand: turn(byHand) }
  await interleave(warm, variants)
  const values = await interleave(rounds, variants)
  const ratio = median(ratios(values['own']!, values['byHand']!))
  printRow(label, `${ms(median(values['own']!))} to ${ms(median(values['byHand']!))}`, ratio)
}
