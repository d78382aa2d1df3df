import { Database, Injectable, Log } from '@stack/backend'
import { Audit } from '../audit/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import type { ClientInfo } from '../shared/client.ts'
import type { Registration, Verified } from './credential.ts'
import { algorithms } from './options.ts'
import { relyingParty, userHandleOf } from './relying-party.ts'
import { type Ceremony, Credentials, WebauthnChallenges } from './rows.ts'
import type { Assertion, RegistrationBody } from './schemas.ts'

/** Why a ceremony failed. The audit trail has it, and the answer does not. */
export interface Refused {
  reason: 'unknown_challenge' | 'unknown_passkey' | 'wrong_passkey' | 'stale_counter' | 'user_not_verified'
  /** The account of the passkey that was named, where it is known. */
  userId?: string
}

/** Characters of the library's message that are logged: it repeats what the client sent. */
const longestReason = 300

/**
 * The end of a ceremony, in steps that share no transaction: the challenge is used up, then the signature is verified while no connection
 * is held (contract 2.15), then the use is counted in the request's transaction.
 */
@Injectable()
export class Assertions {
  constructor(
    private readonly audit: Audit,
    private readonly challenges: WebauthnChallenges,
    private readonly credentials: Credentials,
    private readonly settings: SettingsRows,
  ) {}

  /** Call `use` before anything is granted. */
  async verify(ceremony: Ceremony, body: Assertion): Promise<Verified | Refused> {
    const { id, response } = body.response
    const { known, party, credential } = await Database.$apart(async (sql) => {
      const party = relyingParty((await this.settings.read(sql)).document)
      const known = await this.challenges.consume(body.challenge_id, ceremony, sql)
      return { known, party, credential: known && (await this.credentials.byCredentialId(id, party.id, sql)) }
    })
    if (!known) return { reason: 'unknown_challenge' }
    if (!credential || (ceremony.userId !== undefined && credential.user_id !== ceremony.userId)) {
      return { reason: 'unknown_passkey' }
    }
    const userId = credential.user_id
    const handle = response.userHandle ?? undefined
    // WebAuthn section 7.2, step 6: where no account was named beforehand, the authenticator must name it.
    if ((ceremony.purpose === 'sign_in' || handle !== undefined) && handle !== (await userHandleOf(userId))) {
      return { reason: 'wrong_passkey', userId }
    }
    const { verifyAssertion } = await import('./verification.ts')
    const verified = await unlessRefused(verifyAssertion(body, known.challenge, party, credential))
    return verified ?? { reason: 'wrong_passkey', userId }
  }

  /**
   * Counts the use in the transaction of the request. A counter that has not grown shows that two authenticators hold the key (WebAuthn
   * section 6.1.1). Such a use is refused, and the passkey stays: which of the two is the owner's cannot be told.
   */
  async use(verified: Verified, client: ClientInfo): Promise<Refused | undefined> {
    const { factorId, userId, signCount } = verified
    const outcome = await this.credentials.use(verified)
    if (outcome === 'used') return undefined
    if (outcome === 'gone') return { reason: 'unknown_passkey', userId }
    await this.audit.record({
      event: 'passkey.clone_suspected',
      outcome: 'failure',
      reason: 'stale_counter',
      actor: { type: 'anonymous' },
      target: { type: 'user', id: userId },
      client,
      details: { factor_id: factorId, sign_count: signCount },
    })
    return { reason: 'stale_counter', userId }
  }

  /** The end of an enrolment. */
  async register(
    ceremony: Ceremony,
    body: RegistrationBody,
  ): Promise<{ registration: Registration; label: string } | Refused> {
    const { known, party } = await Database.$apart(async (sql) => ({
      party: relyingParty((await this.settings.read(sql)).document),
      known: await this.challenges.consume(body.challenge_id, ceremony, sql),
    }))
    if (!known) return { reason: 'unknown_challenge' }
    const { verifyRegistration } = await import('./verification.ts')
    const made = await unlessRefused(verifyRegistration(body, known.challenge, party, algorithms))
    return made ? { registration: made, label: known.label } : { reason: 'wrong_passkey' }
  }
}

/** @returns `undefined` where the check throws: parsers of a client's bytes throw all kinds of errors, and each is a refusal. */
async function unlessRefused<T>(check: Promise<T>): Promise<T | undefined> {
  try {
    return await check
  } catch (error) {
    Log.info('a passkey was refused', { reason: String(error).slice(0, longestReason).toWellFormed() })
    return undefined
  }
}

/** RFC 8176: a key in hardware, or one that software may copy to other devices, and a person who was there. */
export function methodsOf({ isBackupEligible }: Pick<Verified, 'isBackupEligible'>): string[] {
  return [isBackupEligible ? 'swk' : 'hwk', 'user']
}

/** @param amr methods of the first step. Whether it was a passkey that did not verify its user. */
export function asksForVerification(amr: readonly string[]): boolean {
  return amr.includes('hwk') || amr.includes('swk')
}
