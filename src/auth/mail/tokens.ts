/** One-time tokens and codes: a client that presents one has read what was sent to an address or a phone number. */
import { Cron, Database, Injectable } from '@stack/backend'
import { Limits } from '../limits/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { base64url, randomText } from '../shared/base64url.ts'
import { authenticate } from '../shared/seal.ts'
import { inRequest, type Sql } from '../shared/sql.ts'

export type Purpose =
  | 'confirm_email'
  | 'reset_password'
  | 'email_change'
  | 'email_change_undo'
  | 'passkey_hand_off'
  | 'phone_sign_in'
  | 'phone_change'

export interface Proof {
  purpose: Purpose
  /** `null` where there is no account yet. */
  userId: string | null
  /** The address or the number that the message goes to. */
  target: string
}

/** What the client presents: the token of a link, or the code with the address or number that it went to. */
export type Presented = { token: string } | { target: string; code: string }

/** A token that is right and not used up yet. */
export interface Found {
  digest: string
  purpose: Purpose
  user_id: string | null
  target: string
}

/** Bounds of attempts with a code. */
export interface Attempts {
  /** Wrong codes after which a code is worth nothing. The default is 5. */
  most?: number
  /** The only user whose code counts: attempts of one user do not use up those of another. The default is any. */
  userId?: string
}

/** Wrong codes after which a code is worth nothing: of a million codes, five guesses find one in 200,000 times. */
const mostAttempts = 5

/** Bytes of a token: it cannot be guessed, so its attempts are not counted. */
const tokenBytes = 32

@Injectable()
export class OneTimeTokens {
  constructor(
    private readonly limits: Limits,
    private readonly settings: SettingsRows,
  ) {}

  /**
   * Makes a token and a code. Earlier ones of the purpose stay valid: a mail that is late must not be void.
   * @param seconds how long the token is valid. @param code how long the code is valid, and its number of digits.
   */
  async issue(
    { purpose, userId, target }: Proof,
    seconds: number,
    code: { seconds: number; digits: number },
    sql: Sql = inRequest,
  ): Promise<{ token: string; code: string }> {
    const token = randomText(tokenBytes)
    const digits = randomDigits(code.digits)
    await sql`
      insert into auth.one_time_tokens (token_digest, code_digest, purpose, user_id, target, expires_at, code_expires_at)
      values (${await digestOfToken(token)}, ${await digestOfCode(purpose, target, digits)}, ${purpose}, ${userId}, ${target},
        now() + make_interval(secs => ${seconds}), now() + make_interval(secs => ${code.seconds}))`
    return { token, code: digits }
  }

  /**
   * Looks for what the client presents, without using it up: a mail scanner that opens a link must not void it. An attempt with a code
   * counts at once, in a transaction of its own. No connection is held afterwards.
   *
   * @returns `undefined` for one that is wrong, over or used. @throws HttpError 429 `rate_limited`
   */
  async find(purpose: Purpose, presented: Presented, attempts: Attempts = {}): Promise<Found | undefined> {
    if ('code' in presented) return this.findCode(purpose, presented, attempts)
    const digest = await digestOfToken(presented.token)
    const [row] = await Database.$apart(
      (sql) => sql<Omit<Found, 'digest' | 'purpose'>>`
        select user_id, target from auth.one_time_tokens
        where token_digest = ${digest} and purpose = ${purpose} and consumed_at is null and expires_at > now()`,
    )
    return row && { ...row, digest, purpose }
  }

  /** Whom a link was sent to, also where it was used or is over: until the row is deleted, an hour later. It proves nothing any more. */
  async recall(purpose: Purpose, token: string, sql: Sql): Promise<Pick<Found, 'user_id' | 'target'> | undefined> {
    const [row] = await sql<Pick<Found, 'user_id' | 'target'>>`
      select user_id, target from auth.one_time_tokens
      where token_digest = ${await digestOfToken(token)} and purpose = ${purpose}`
    return row
  }

  /**
   * Uses it up in the transaction of the request, with every other token of its purpose and target: a request that fails leaves them.
   * Rows are locked in one order here and in `findCode`, so that two requests with two tokens do not wait for each other.
   *
   * @returns whether this one of several requests got it.
   */
  async use({ digest, purpose, target }: Found): Promise<boolean> {
    const used = await inRequest`
      with live as (select token_digest from auth.one_time_tokens
        where purpose = ${purpose} and target = ${target} and consumed_at is null order by token_digest for no key update)
      update auth.one_time_tokens set consumed_at = now()
      where token_digest in (select token_digest from live) and exists (select from live where token_digest = ${digest})
      returning token_digest`
    return used.length > 0
  }

  /** Compares with the newest code alone: guesses would find one of many sooner. */
  private async findCode(
    purpose: Purpose,
    { target, code }: { target: string; code: string },
    { most = mostAttempts, userId }: Attempts,
  ): Promise<Found | undefined> {
    const key = userId === undefined ? `${purpose} ${target}` : `${purpose} ${target} ${userId}`
    const { refused, live } = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      const refused = await this.limits.take(sql, 'code_per_recipient', key, document)
      if (refused) return { refused, live: [] }
      const live = await sql<{ code_digest: string; digest: string; user_id: string | null }>`
        with newest as (select token_digest from auth.one_time_tokens
          where purpose = ${purpose} and target = ${target} and consumed_at is null and code_expires_at > now()
            and user_id is not distinct from coalesce(${userId ?? null}, user_id)
          order by created_at desc, token_digest limit 1)
        update auth.one_time_tokens set attempts = attempts + 1
        where token_digest in (select token_digest from newest) and attempts < ${most}
        returning code_digest, token_digest as digest, user_id`
      return { refused, live }
    })
    if (refused) throw refused
    const expected = await digestOfCode(purpose, target, code)
    const right = live.find(({ code_digest }) => code_digest === expected)
    return right && { digest: right.digest, user_id: right.user_id, purpose, target }
  }

  /** Voids every token of the purpose that went to the address or number. */
  async forget(purpose: Purpose, target: string): Promise<void> {
    await inRequest`
      update auth.one_time_tokens set consumed_at = now()
      where purpose = ${purpose} and target = ${target} and consumed_at is null`
  }

  /** Voids the user's tokens of these purposes. */
  async forgetUser(userId: string, purposes: readonly Purpose[]): Promise<void> {
    await inRequest`
      update auth.one_time_tokens set consumed_at = now()
      where user_id = ${userId} and consumed_at is null and purpose = any (${purposes}::text[])`
  }

  /** Voids every token of the user but those with which a former address takes a change back. */
  async forgetActions(userId: string): Promise<void> {
    await inRequest`
      update auth.one_time_tokens set consumed_at = now()
      where user_id = ${userId} and consumed_at is null and purpose <> 'email_change_undo'`
  }

  /** Voids those that later addresses of the account hold. The earlier ones stay: an intruder must not void the owner's. */
  async forgetLaterUndos({ digest, user_id }: Found): Promise<void> {
    await inRequest`
      update auth.one_time_tokens set consumed_at = now()
      where user_id = ${user_id} and purpose = 'email_change_undo' and consumed_at is null
        and created_at > (select created_at from auth.one_time_tokens where token_digest = ${digest})`
  }

  /** Tokens that are used or over say nothing any more. */
  @Cron('5 * * * *')
  async forgetExpired(): Promise<void> {
    await inRequest`
      delete from auth.one_time_tokens where greatest(expires_at, code_expires_at) < now() or consumed_at < now() - interval '1 hour'`
  }
}

/** Digits without a bias: a byte of 250 or more is drawn again. */
function randomDigits(count: number): string {
  let digits = ''
  while (digits.length < count) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1))
    if (byte < 250) digits += String(byte % 10)
  }
  return digits
}

/** The key is a binding: a dump of the table opens no account, although a code has a million values only. */
async function digest(text: string): Promise<string> {
  return base64url(await authenticate('PASSWORD_PEPPER', new TextEncoder().encode(text)))
}

const digestOfToken = (token: string) => digest(`one-time token ${token}`)

const digestOfCode = (purpose: Purpose, target: string, code: string) =>
  digest(`one-time code ${purpose} ${target} ${code}`)
