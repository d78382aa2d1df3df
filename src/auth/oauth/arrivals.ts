import { Database, HttpError, Injectable } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { Audit } from '../audit/rows.ts'
import { Identities, type Identity, type Person, titleOf } from '../identities/rows.ts'
import { SignUps } from '../limits/sign-ups.ts'
import { Delivery } from '../mail/delivery.ts'
import { Notices } from '../mail/notices.ts'
import { SecondStep, type SignInAnswer } from '../mfa/second-step.ts'
import { type Origin, Sessions } from '../sessions/rows.ts'
import type { ClientInfo } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import type { Sql } from '../shared/sql.ts'
import { type User, Users } from '../users/rows.ts'

/** RFC 8176 has no word for a provider that vouched for the user. This is the one that Microsoft Entra uses. */
const byProvider = ['fed']

/** A person whom a provider has vouched for, and who has proved to be the one that began the sign-in. */
export interface Arrival {
  person: Person
  origin: Origin
  client: ClientInfo
  /** The guest whose session the application has. */
  guestId: string | undefined
}

/** The outcome for a person: found by the identity, found by the address, or new. */
export type Outcome = 'known' | 'linked' | 'new'

/** The account of a person: found, linked by a confirmed address, made, or made of a guest. */
@Injectable()
export class Arrivals {
  constructor(
    private readonly audit: Audit,
    private readonly delivery: Delivery,
    private readonly identities: Identities,
    private readonly notices: Notices,
    private readonly secondStep: SecondStep,
    private readonly sessions: Sessions,
    private readonly signUps: SignUps,
    private readonly users: Users,
  ) {}

  /**
   * Tells early what would become of the person, so that the browser can be sent back with a refusal. The exchange decides again.
   * @returns the error that the exchange would answer.
   */
  async foresee(person: Person, settings: Settings, sql: Sql): Promise<Outcome | HttpError> {
    const owner = await this.identities.ownerOf(person, sql)
    const known = owner === undefined ? undefined : await this.users.byId(owner, sql)
    if (known) return known.disabled_at ? authError('user_disabled') : 'known'
    const namesake = person.email === null ? undefined : await this.users.byEmail(person.email, sql)
    if (namesake && (await this.isLinkable(person, namesake, sql)))
      return namesake.disabled_at ? authError('user_disabled') : 'linked'
    if (namesake && !isHidden(person, settings)) return authError('account_exists')
    if (settings.sign_up_enabled === false) return authError('sign_up_disabled')
    return addressFault(person, settings) ?? 'new'
  }

  /** The sign-in itself, in the transaction of the request. @param foreseen in a short transaction before. */
  async settle(
    arrival: Arrival,
    foreseen: Outcome,
    settings: Settings,
  ): Promise<SignInAnswer | { status: 'confirmation_required' }> {
    const { person, client, origin } = arrival
    if (foreseen === 'new') await this.signUps.admit(client)
    await this.identities.lock(person)
    const owner = await this.identities.ownerOf(person)
    const user = owner ? await this.recognise(owner, person) : await this.welcome(arrival, foreseen, settings)
    if (user === undefined) return { status: 'confirmation_required' }
    if (user.disabled_at) throw authError('user_disabled')
    await this.identities.signedIn(person, origin.client_key)
    if (settings.confirm_email_required && !user.email_confirmed_at) {
      if (user.email === null) throw authError('email_not_confirmed')
      // the same answer as for a new address and for one of another account: a second attempt tells no more than the first
      return { status: 'confirmation_required' }
    }
    return this.secondStep.finish(user, byProvider, client, origin)
  }

  /** Adds the identity to the account of a user who is signed in and has begun this themselves. */
  async link(
    userId: string,
    { person, origin, client }: Omit<Arrival, 'guestId'>,
  ): Promise<{ status: 'linked'; identity: Identity }> {
    await this.identities.lock(person)
    const owner = await this.identities.ownerOf(person)
    if (owner !== undefined && owner !== userId) throw authError('identity_taken')
    if (owner === undefined) {
      const user = await this.users.lock(userId)
      if (!user) throw changed()
      if (user.disabled_at) throw authError('user_disabled')
      await this.add(user, person, origin, client, 'by_user')
    }
    const identity = (await this.identities.ofUser(userId)).find(
      ({ provider, id }) => provider === person.provider && id === person.subject,
    )
    return { status: 'linked', identity: identity! }
  }

  /** Notes a failed sign-in, in a transaction of its own. @returns the error. */
  async failed(
    error: HttpError,
    { provider, client_key }: Pick<Origin, 'provider' | 'client_key'>,
    client: ClientInfo,
  ) {
    const details = { provider, client_key }
    const entry = { event: 'user.sign_in_failed', outcome: 'failure', reason: error.code, details, client } as const
    await Database.$apart((sql) => this.audit.record({ ...entry, actor: { type: 'anonymous' } }, sql))
    return error
  }

  /** The owner of a known identity. The provider may confirm the account's own address meanwhile. */
  private async recognise(userId: string, person: Person): Promise<User> {
    const user = await this.users.lock(userId)
    if (!user) throw changed()
    if (!person.email_verified || user.email !== person.email || user.email_confirmed_at) return user
    await this.users.confirmEmail(user.id, person.email!)
    return { ...user, email_confirmed_at: new Date() }
  }

  /** @returns `undefined` where the address is another account's, and no answer may tell so. */
  private async welcome(arrival: Arrival, foreseen: Outcome, settings: Settings): Promise<User | undefined> {
    const { person, origin, client } = arrival
    const namesake = person.email === null ? undefined : await this.users.lockByEmail(person.email)
    if (namesake && (await this.isLinkable(person, namesake))) {
      await this.add(namesake, person, origin, client, 'by_address')
      return namesake
    }
    if (namesake && !isHidden(person, settings)) throw authError('account_exists')
    // a sign-up that was not counted is not admitted
    if (foreseen !== 'new') throw changed()
    const user = await this.make(arrival, settings)
    if (user) await this.identities.add(user.id, person, origin.client_key)
    return user
  }

  private async make({ person, origin, client, guestId }: Arrival, settings: Settings): Promise<User | undefined> {
    const fault = addressFault(person, settings)
    if (fault) throw fault
    const { name, picture } = person.profile
    const data = { provider: person.provider, ...(name ? { name } : {}), ...(picture ? { picture } : {}) }
    const newcomer = { email: person.email, isConfirmed: person.email_verified, data }
    const made = guestId ? await this.users.upgrade(guestId, newcomer) : await this.users.createFrom(newcomer)
    if (made === 'not_anonymous') throw authError('not_anonymous')
    const isTaken = made === undefined || made === 'taken'
    if (isTaken && !isHidden(person, settings)) throw authError('account_exists')
    if (guestId) await this.sessions.endAll(guestId, 'signed_out')
    // one row for a new and for a known address, so that the work is the same
    if (person.email !== null && !person.email_verified) await this.invite(person.email, isTaken ? null : made.id)
    if (isTaken) return undefined
    const { id } = made
    await this.audit.record({
      event: guestId ? 'user.upgraded' : 'user.signed_up',
      actor: { type: 'user', id },
      target: { type: 'user', id },
      client,
      details: { provider: person.provider, client_key: origin.client_key },
    })
    return made
  }

  /** Both sides have confirmed the address: the provider, and the account that has it. */
  private async isLinkable(person: Person, namesake: User, sql?: Sql): Promise<boolean> {
    const isConfirmed = person.email_verified && namesake.email_confirmed_at !== null
    return isConfirmed && this.identities.mayLinkByAddress(person.provider, sql)
  }

  /** The mail of a sign-up whose address the provider has not verified. */
  private async invite(email: string, newUserId: string | null): Promise<void> {
    const template = newUserId === null ? 'existing_account' : 'confirm_email'
    await this.delivery.queue({ template, recipient: email, userId: newUserId })
  }

  private async add(
    user: Pick<User, 'id' | 'email'>,
    person: Person,
    origin: Origin,
    client: ClientInfo,
    how: 'by_user' | 'by_address',
  ): Promise<void> {
    const { id } = user
    await this.identities.add(id, person, origin.client_key)
    await this.audit.record({
      event: 'identity.linked',
      actor: { type: 'user', id },
      target: { type: 'user', id },
      client,
      details: { provider: person.provider, client_key: origin.client_key, how },
    })
    await this.notices.toUser(user, 'identity_linked', client, { provider_name: titleOf(person.provider) })
  }
}

/**
 * Where addresses must be confirmed, a sign-up does not tell that an address is known. A provider that has not verified the address
 * proves no more than a sign-up does.
 */
function isHidden(person: Person, { confirm_email_required }: Settings): boolean {
  return confirm_email_required === true && !person.email_verified
}

/** The preview does not hold any more: an account was deleted, or its address changed, in the same second. */
const changed = () => new HttpError(409, 'conflict', 'the account has changed meanwhile: sign in again')

/** A person without an address cannot confirm one. */
function addressFault(person: Person, { confirm_email_required }: Settings): HttpError | undefined {
  if (person.email !== null || !confirm_email_required) return undefined
  return authError('email_not_confirmed', 'the provider gave no email address, and one must be confirmed here')
}
