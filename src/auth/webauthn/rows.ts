import { Cron, Injectable } from '@stack/backend'
import { newId } from '../../wire/ids.ts'
import { randomText } from '../shared/base64url.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import type { Credential, NamedCredential, Registration, Verified } from './credential.ts'

/** Passkeys of an account. Each enrolment and each second factor lists all of them. */
const mostPasskeys = 20
/** Bytes of a challenge: WebAuthn section 13.4.3 demands at least 16. */
const challengeBytes = 32

/** A use of an authenticator. A challenge of one ceremony is worth nothing in another one. */
export interface Ceremony {
  purpose: 'enrol' | 'sign_in' | 'second_factor' | 'step_up'
  /** Absent for a sign-in: the passkey tells whose it is. */
  userId?: string
  /** The session of an enrolment or a step-up, or the challenge of the sign-in that waits for its second factor. */
  boundTo?: string
}

export interface IssuedChallenge {
  id: string
  /** Base64url. */
  challenge: string
}

@Injectable()
export class WebauthnChallenges {
  /** A new challenge takes the place of an earlier one of the same session or sign-in, so that asking again and again fills no table. */
  async begin({ purpose, userId, boundTo }: Ceremony, label: string): Promise<IssuedChallenge> {
    const issued = { id: `wac_${randomText(24)}`, challenge: randomText(challengeBytes) }
    await inRequest`
      delete from auth.webauthn_challenges where purpose = ${purpose} and user_id = ${userId ?? null} and bound_to = ${boundTo ?? null}`
    await inRequest`insert into auth.webauthn_challenges (id, purpose, challenge, user_id, bound_to, label)
      values (${issued.id}, ${purpose}, ${issued.challenge}, ${userId ?? null}, ${boundTo ?? null}, ${label})`
    return issued
  }

  /** @returns `undefined` for a challenge of another ceremony, one that is over, and one that was used: of attempts in parallel one gets it. */
  async consume(
    id: string,
    { purpose, userId, boundTo }: Ceremony,
    sql: Sql,
  ): Promise<{ challenge: string; label: string } | undefined> {
    const [row] = await sql<{ challenge: string; label: string }>`
      update auth.webauthn_challenges set consumed_at = now()
      where id = ${id} and purpose = ${purpose} and user_id is not distinct from ${userId ?? null}::text
        and bound_to is not distinct from ${boundTo ?? null}::text and consumed_at is null and expires_at > now()
      returning challenge, label`
    return row
  }

  @Cron('5 * * * *')
  async forgetExpired(): Promise<void> {
    await inRequest`delete from auth.webauthn_challenges where expires_at < now()`
  }
}

@Injectable()
export class Credentials {
  /** @param rpId credentials of another relying party are left out: no browser would offer them. */
  ofUser(userId: string, rpId: string): Promise<NamedCredential[]> {
    return inRequest<NamedCredential>`
      select credential_id, transports from auth.mfa_factors
      where user_id = ${userId} and type = 'webauthn' and rp_id = ${rpId} order by created_at, id`
  }

  async byCredentialId(credentialId: string, rpId: string, sql: Sql): Promise<Credential | undefined> {
    const [row] = await sql<Credential>`
      select id, user_id, public_key, is_backup_eligible from auth.mfa_factors
      where credential_id = ${credentialId} and rp_id = ${rpId}`
    return row
  }

  async isFull(userId: string): Promise<boolean> {
    const [row] = await inRequest<{ count: number }>`
      select count(*)::int as count from auth.mfa_factors where user_id = ${userId} and type = 'webauthn'`
    return row!.count >= mostPasskeys
  }

  /** @returns the id of the new factor, or why there is none. Enrolments of one user follow each other, so that none exceeds the limit. */
  async add(
    userId: string,
    label: string,
    { credentialId, publicKey, signCount, rpId, transports, aaguid, ...flags }: Registration,
  ): Promise<{ id: string } | 'exists' | 'full'> {
    await inRequest`select from auth.users where id = ${userId} for no key update`
    if (await this.isFull(userId)) return 'full'
    const [added] = await inRequest<{ id: string }>`
      insert into auth.mfa_factors (id, user_id, type, status, label, verified_at, credential_id, public_key, sign_count, rp_id,
        transports, aaguid, is_backup_eligible, is_backed_up, is_user_verifying)
      values (${newId('fac_')}, ${userId}, 'webauthn', 'verified', ${label}, now(), ${credentialId}, ${publicKey}, ${signCount},
        ${rpId}, ${transports}, ${aaguid}, ${flags.isBackupEligible}, ${flags.isBackedUp}, ${flags.isUserVerified})
      on conflict do nothing returning id`
    return added ?? 'exists'
  }

  /**
   * Counts the use of a credential: the counter of its authenticator must have grown, unless the authenticator keeps none (WebAuthn
   * section 6.1.1). Of uses in parallel with one count, one succeeds.
   */
  async use({ factorId, signCount, isBackedUp, isUserVerified }: Verified): Promise<'used' | 'stale' | 'gone'> {
    const used = await inRequest`
      update auth.mfa_factors set sign_count = ${signCount}, last_used_at = now(), is_backed_up = ${isBackedUp},
        is_user_verifying = is_user_verifying or ${isUserVerified}
      where id = ${factorId} and (${signCount}::bigint > sign_count or (${signCount}::bigint = 0 and sign_count = 0)) returning id`
    if (used.length > 0) return 'used'
    const known = await inRequest`select from auth.mfa_factors where id = ${factorId}`
    return known.length > 0 ? 'stale' : 'gone'
  }
}
