import { authError } from './errors.ts'
import { inRequest } from './sql.ts'

/**
 * Call it after a way in was removed, in the same transaction. A passkey counts that has verified its user and belongs to the domain of
 * today. An identity, a phone number and an address count while their provider is enabled.
 *
 * @param rpId the domain that passkeys work at. @throws HttpError 409 `last_way_in` where the person could not sign in any more.
 */
export async function requireWayIn(userId: string, rpId: string): Promise<void> {
  // Removals of one account follow each other, so that two in parallel do not each rely on what the other removes.
  await inRequest`select from auth.users where id = ${userId} for no key update`
  const ways = await inRequest`
    select from auth.password_credentials where user_id = ${userId}
    union all
    select from auth.mfa_factors where user_id = ${userId} and type = 'webauthn' and rp_id = ${rpId} and is_user_verifying
    union all
    select from auth.identities join auth.providers on name = provider where user_id = ${userId} and enabled
    union all
    select from auth.users join auth.providers on (name = 'phone' and phone_confirmed_at is not null)
      or (name = 'email' and email_confirmed_at is not null)
    where id = ${userId} and enabled
    limit 1`
  if (ways.length === 0) throw authError('last_way_in')
}
