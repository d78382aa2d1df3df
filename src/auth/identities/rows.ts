import { Injectable } from '@stack/backend'
import { inRequest, type Sql } from '../shared/sql.ts'

/** The names of the providers as people read them. */
const titles: Record<string, string> = { google: 'Google', apple: 'Apple', microsoft: 'Microsoft', github: 'GitHub' }

export const titleOf = (provider: string): string => titles[provider] ?? provider

/** A provider's description of a person, beside the address. */
export interface Profile {
  name?: string
  given_name?: string
  family_name?: string
  /** Address of a picture. */
  picture?: string
  /** The name of the account at a provider where accounts have one. */
  login?: string
}

/** A person as a provider has vouched for them. */
export interface Person {
  provider: string
  /** The provider's own name of the person, which never changes. */
  subject: string
  /** In the form in which addresses are stored. */
  email: string | null
  /** The provider says that the person controls the address. */
  email_verified: boolean
  profile: Profile
}

/** An identity as its owner sees it. */
export interface Identity {
  provider: string
  /** The provider's own name of the person. */
  id: string
  email: string | null
  email_verified: boolean
  profile: Profile
  created_at: Date
  last_sign_in_at: Date | null
}

@Injectable()
export class Identities {
  ofUser(userId: string): Promise<Identity[]> {
    return inRequest<Identity>`
      select provider, subject as id, email, email_verified, profile, created_at, last_sign_in_at
      from auth.identities where user_id = ${userId} order by created_at, provider, subject`
  }

  /** @returns the id of the user that the identity belongs to. */
  async ownerOf({ provider, subject }: Person, sql: Sql = inRequest): Promise<string | undefined> {
    const [row] = await sql<{ user_id: string }>`
      select user_id from auth.identities where provider = ${provider} and subject = ${subject}`
    return row?.user_id
  }

  /** Whether an address that both sides have confirmed leads to the account: the provider's configuration may say never. */
  async mayLinkByAddress(provider: string, sql: Sql = inRequest): Promise<boolean> {
    const rows = await sql`
      select from auth.providers where name = ${provider} and config ->> 'link_policy' is distinct from 'never'`
    return rows.length > 0
  }

  /** Until the end of the transaction no other one decides about this person: sign-ins of a new person follow each other. */
  async lock({ provider, subject }: Person): Promise<void> {
    await inRequest`select pg_advisory_xact_lock(hashtextextended(${`identity ${provider} ${subject}`}, 0))`
  }

  async add(userId: string, { provider, subject, email, email_verified, profile }: Person, clientKey: string) {
    await inRequest`
      insert into auth.identities (provider, subject, user_id, client_key, email, email_verified, profile)
      values (${provider}, ${subject}, ${userId}, ${clientKey}, ${email}, ${email_verified}, ${JSON.stringify(profile)})`
  }

  /**
   * Keeps what the provider said this time. A profile loses nothing: Apple tells the name at the first sign-in alone.
   */
  async signedIn({ provider, subject, email, email_verified, profile }: Person, clientKey: string): Promise<void> {
    await inRequest`
      update auth.identities set email = ${email}, email_verified = ${email_verified}, client_key = ${clientKey},
        profile = profile || ${JSON.stringify(profile)}::jsonb, last_sign_in_at = now()
      where provider = ${provider} and subject = ${subject}`
  }

  /** The address of an account has proved itself for the first time: identities from before may be those of another person. */
  async removeAll(userId: string): Promise<void> {
    await inRequest`delete from auth.identities where user_id = ${userId}`
  }

  /** @returns whether the user had it. */
  async remove(userId: string, provider: string, subject: string): Promise<boolean> {
    const rows = await inRequest`
      delete from auth.identities where user_id = ${userId} and provider = ${provider} and subject = ${subject}
      returning user_id`
    return rows.length > 0
  }
}
