/**
 * The parts of the auth module that decide on accounts, made as its container makes them. It is no part of `auth-module.ts`, because a
 * test file mocks the SDK by that file, and these classes import the SDK.
 */
import { Audit } from '../../src/auth/audit/rows.ts'
import { Identities } from '../../src/auth/identities/rows.ts'
import { Limits } from '../../src/auth/limits/rows.ts'
import { MailAdmission } from '../../src/auth/mail/admission.ts'
import { type NewMessage, Outbox } from '../../src/auth/mail/outbox.ts'
import { PendingActions } from '../../src/auth/mail/pending.ts'
import { OneTimeTokens } from '../../src/auth/mail/tokens.ts'
import { Challenges, Factors, Recovery } from '../../src/auth/mfa/rows.ts'
import { Reclaim } from '../../src/auth/passwords/reclaim.ts'
import { Passwords } from '../../src/auth/passwords/rows.ts'
import { Sessions } from '../../src/auth/sessions/rows.ts'
import { SettingsRows } from '../../src/auth/settings/rows.ts'
import { Users } from '../../src/auth/users/rows.ts'
import type { AuthModule } from './auth-module.ts'

export function accountParts() {
  /** Template and address of each notice to an owner. */
  const told: string[] = []
  const [audit, limits, outbox, settings] = [new Audit(), new Limits(), new Outbox(), new SettingsRows()]
  const [challenges, factors, recovery] = [new Challenges(), new Factors(), new Recovery()]
  const [identities, passwords, sessions, users] = [new Identities(), new Passwords(), new Sessions(), new Users()]
  const tokens = new OneTimeTokens(limits, settings)
  return {
    ...{ audit, limits, outbox, settings, challenges, factors, recovery, identities, passwords, sessions, users, told },
    tokens,
    admission: new MailAdmission(limits),
    pending: new PendingActions(outbox, tokens),
    reclaim: new Reclaim(factors, identities, recovery, users),
    delivery: { queue: (message: NewMessage) => outbox.queue(message) } as never,
    notices: {
      toUser: async ({ email }: { email: string }, template: string) => void told.push(`${template} ${email}`),
    } as never,
  }
}

/** A client that begins sessions. */
export const browser = { ip: '192.0.2.7', country: null, user_agent: 'Browser/1', request_id: 'req_1' }

let count = 0

/** Makes an account with a confirmed address. */
export async function addAccount({ sql }: AuthModule): Promise<{ id: string; email: string }> {
  const id = `usr_${count++}`
  const email = `${id}@example.com`
  await sql('insert into auth.users (id, email, email_confirmed_at) values ($1, $2, now())', [id, email])
  return { id, email }
}
