import { Injectable } from '@stack/backend'
import { Outbox } from './outbox.ts'
import { OneTimeTokens } from './tokens.ts'

/** Actions that wait for a link or a code: those that were sent, and those whose message is still to be sent. */
@Injectable()
export class PendingActions {
  constructor(
    private readonly outbox: Outbox,
    private readonly tokens: OneTimeTokens,
  ) {}

  /**
   * Voids all of the user's, because who asked for them may not be the owner. The right of a former address to take its change back
   * stays: it is the owner's last one.
   */
  async void(userId: string): Promise<void> {
    await this.outbox.dropOf(userId)
    await this.tokens.forgetActions(userId)
  }
}
