import { Injectable } from '@stack/backend'
import { Outbox } from './outbox.ts'
import { type Found, OneTimeTokens } from './tokens.ts'

/** Actions that wait for a link or a code: those that were sent, and those whose message is still to be sent. */
@Injectable()
export class PendingActions {
  constructor(
    private readonly outbox: Outbox,
    private readonly tokens: OneTimeTokens,
  ) {}

  /**
   * Voids all of the user's, because the person who asked for them may not be the owner. The right of a former address to take its
   * change back stays: it is the owner's last one.
   */
  async void(userId: string): Promise<void> {
    await this.outbox.dropOf(userId)
    await this.tokens.forgetActions(userId)
  }

  /**
   * Voids the same once a former address has taken its change back, and the rights of later addresses: an intruder may hold them.
   * @param undo the token of that address. Those of earlier addresses stay.
   */
  async voidAfter(undo: Found & { user_id: string }): Promise<void> {
    await this.outbox.dropOf(undo.user_id, true)
    await this.tokens.forgetLaterUndos(undo)
    await this.tokens.forgetActions(undo.user_id)
  }
}
