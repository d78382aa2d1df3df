import { Injectable } from '@stack/backend'
import { Identities } from '../identities/rows.ts'
import { Factors, Recovery } from '../mfa/rows.ts'
import { Users } from '../users/rows.ts'

/** An account is given back to the owner of its address: every way in that another person may have added is removed. */
@Injectable()
export class Reclaim {
  constructor(
    private readonly factors: Factors,
    private readonly identities: Identities,
    private readonly recovery: Recovery,
    private readonly users: Users,
  ) {}

  /** Removes identities, passkeys, authenticator apps with their recovery codes, and the phone number. */
  async removeWaysIn(userId: string): Promise<void> {
    await this.identities.removeAll(userId)
    await this.factors.removeAll(userId)
    await this.recovery.remove(userId)
    await this.users.removePhone(userId)
  }
}
