/** A sign-in with a passkey on the stack's own page: the application gets a code, and trades it for tokens. */
import { Body, Controller, HttpError, Post, Req, RequestId } from '@stack/backend'
import * as v from 'valibot'
import { OneTimeTokens } from '../mail/tokens.ts'
import { SecondStep, type SignInAnswer } from '../mfa/second-step.ts'
import { isListed, returnAddress } from '../oauth/redirects.ts'
import { exchangeBody, returning } from '../oauth/schemas.ts'
import { digestOf } from '../oauth/secrets.ts'
import { SettingsRows } from '../settings/rows.ts'
import { clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { strictObject } from '../shared/strict-object.ts'
import { Users } from '../users/rows.ts'
import { assertion } from '../webauthn/schemas.ts'
import { PasskeySignIns } from './sign-in.ts'

/** Seconds in which an application exchanges its code: it does so as soon as it is called back. */
const handOffSeconds = 60

/** The parameters with which an application begins a sign-in. */
export const beginning = v.object({
  ...returning,
  /** Given back as it came. */
  state: v.optional(v.pipe(v.string(), v.regex(/^[\x20-\x7e]{0,500}$/, 'a state has 500 printable ASCII characters'))),
})
export type Beginning = v.InferOutput<typeof beginning>

const handOffBody = strictObject({ ...assertion.entries, ...beginning.entries })

/** The address that the browser goes on to. */
export function nextAddress({ redirect_to, state }: Beginning, parameters: Record<string, string>): string {
  return returnAddress(redirect_to, { ...parameters, ...(state === undefined ? {} : { state }) })
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
    if (!isListed(begun.redirect_to, document.redirect_allow_list ?? []))
      throw authError('invalid_redirect', 'redirect_to must equal an entry of the setting redirect_allow_list')
    const target = [begun.code_challenge, ...proved.amr].join(' ')
    const proof = { purpose: 'passkey_hand_off', userId: proved.user.id, target } as const
    // no client gets the short code of the row, which is over at once
    const issued = await this.tokens.issue(proof, handOffSeconds, { seconds: 0, digits: 10 })
    return { location: nextAddress(begun, { code: issued.token }) }
  }

  /** A code is good for one attempt, also for one with a wrong verifier: that error is returned, so that the use is committed. */
  @Post('exchange')
  async exchange(
    @Body(exchangeBody) { code, code_verifier }: v.InferOutput<typeof exchangeBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<SignInAnswer | HttpError> {
    const found = await this.tokens.find('passkey_hand_off', { token: code })
    if (!found?.user_id || !(await this.tokens.use(found))) return authError('invalid_code')
    const [challenge, ...amr] = found.target.split(' ')
    if ((await digestOf(code_verifier)) !== challenge) return authError('invalid_code')
    const user = await this.users.lock(found.user_id)
    if (!user) return authError('invalid_code')
    if (user.disabled_at) return authError('user_disabled')
    return this.secondStep.finish(user, amr, clientOf(request, requestId))
  }
}
