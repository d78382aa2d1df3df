/** A sign-in with a passkey on the stack's own page: the application gets a code, and trades it for tokens. */
import { Body, Controller, HttpError, Post, Req, RequestId } from '@stack/backend'
import * as v from 'valibot'
import type { Settings } from '../../wire/settings.ts'
import { token } from '../mail/schemas.ts'
import { OneTimeTokens } from '../mail/tokens.ts'
import { SecondStep } from '../mfa/second-step.ts'
import type { TokenAnswer } from '../sessions/tokens.ts'
import { SettingsRows } from '../settings/rows.ts'
import { base64url } from '../shared/base64url.ts'
import { clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { Users } from '../users/rows.ts'
import { assertion } from '../webauthn/schemas.ts'
import { PasskeySignIns } from './sign-in.ts'

/** Seconds in which an application exchanges its code: it does so as soon as it is called back. */
const handOffSeconds = 60

/** What an application begins a sign-in with. PKCE (RFC 7636) is not optional: the code is worth nothing without the verifier. */
const returning = {
  redirect_to: v.pipe(v.string(), v.maxLength(2_000)),
  code_challenge: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9_-]{43}$/, 'an S256 challenge has 43 characters of base64url'),
  ),
  code_challenge_method: v.literal('S256'),
  /** Given back as it came. */
  state: v.optional(v.pipe(v.string(), v.regex(/^[\x20-\x7e]{0,500}$/, 'a state has 500 printable ASCII characters'))),
}

export const beginning = v.object(returning)
export type Beginning = v.InferOutput<typeof beginning>

const handOffBody = v.strictObject({ ...assertion.entries, ...returning })

const exchangeBody = v.strictObject({
  code: token,
  code_verifier: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9._~-]{43,128}$/, 'a verifier has 43 to 128 characters (RFC 7636)'),
  ),
})

/** Schemes that a browser runs or reads from the disk. A list with one of them is a mistake. */
const dangerous = /^(?:javascript|data|file|blob|vbscript|about|view-source):/i

/** Compared character by character: comparisons of prefixes, hosts and normal forms have been open redirects. */
export function isListed(address: string, { redirect_allow_list = [] }: Settings): boolean {
  const isPlain = /^[\x21-\x7e]+$/.test(address) && !address.includes('#') && URL.canParse(address)
  return isPlain && redirect_allow_list.includes(address) && !dangerous.test(address)
}

/** The address that the browser goes on to. */
export function returnAddress({ redirect_to, state }: Beginning, parameters: Record<string, string>): string {
  const query = new URLSearchParams({ ...parameters, ...(state === undefined ? {} : { state }) })
  return `${redirect_to}${redirect_to.includes('?') ? '&' : '?'}${query}`
}

@Controller('/auth/sign-in/passkey', { auth: false })
export class PasskeyHandOffController {
  constructor(
    private readonly secondStep: SecondStep,
    private readonly settings: SettingsRows,
    private readonly signIns: PasskeySignIns,
    private readonly tokens: OneTimeTokens,
    private readonly users: Users,
  ) {}

  /** Called by the page `GET /auth/passkey`. No token reaches the page, and no session begins yet. */
  @Post('hand-off')
  async handOff(
    @Body(handOffBody) { challenge_id, response, ...begun }: v.InferOutput<typeof handOffBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ location: string } | HttpError> {
    const proved = await this.signIns.prove({ challenge_id, response }, clientOf(request, requestId))
    if (proved instanceof HttpError) return proved
    const { document } = await this.settings.read()
    if (!isListed(begun.redirect_to, document)) {
      const reason = 'redirect_to must equal an entry of the setting redirect_allow_list'
      throw new HttpError(400, 'invalid_request', reason, { fields: [{ path: 'redirect_to', reason }] })
    }
    const target = [begun.code_challenge, ...proved.amr].join(' ')
    const proof = { purpose: 'passkey_hand_off', userId: proved.user.id, target } as const
    // the short code of the row is for nobody, and is over at once
    const issued = await this.tokens.issue(proof, handOffSeconds, { seconds: 0, digits: 10 })
    return { location: returnAddress(begun, { code: issued.token }) }
  }

  /** A code is good for one attempt, also for one with a wrong verifier: that error is returned, so that the use is committed. */
  @Post('exchange')
  async exchange(
    @Body(exchangeBody) { code, code_verifier }: v.InferOutput<typeof exchangeBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<TokenAnswer | Response | HttpError> {
    const found = await this.tokens.find('passkey_hand_off', { token: code })
    if (!found?.user_id || !(await this.tokens.use(found))) return authError('invalid_code')
    const [challenge, ...amr] = found.target.split(' ')
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(code_verifier))
    if (base64url(new Uint8Array(digest)) !== challenge) return authError('invalid_code')
    const user = await this.users.lock(found.user_id)
    if (!user) return authError('invalid_code')
    if (user.disabled_at) return authError('user_disabled')
    return this.secondStep.finish(user, amr, clientOf(request, requestId))
  }
}
