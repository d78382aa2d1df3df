import { Body, Controller, Database, Get, HttpError, Log, Param, Post, Query, Req, RequestId } from '@stack/backend'
import type * as v from 'valibot'
import type { OAuthProvider } from '../../wire/providers.ts'
import { type Identity, type Person, titleOf } from '../identities/rows.ts'
import { Limits } from '../limits/rows.ts'
import type { SignInAnswer } from '../mfa/second-step.ts'
import { Pages } from '../pages/show.ts'
import { Credentials, type OpenCredential } from '../providers/credentials.ts'
import { Sessions } from '../sessions/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, clientOf, networkOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { readAnswer } from './answer.ts'
import { Arrivals } from './arrivals.ts'
import { Beginning } from './beginning.ts'
import { originOf, type ProviderClient } from './client.ts'
import { discover } from './discovery.ts'
import { requireProvider } from './endpoints.ts'
import { personFrom, verifyNative } from './id-token.ts'
import { isOutage, reasonOf } from './provider-fetch.ts'
import { redirect, redirectBack, redirectFault } from './redirects.ts'
import { type Flow, Flows, HandoffCodes, ProviderClients, UsedIdTokens } from './rows.ts'
import { exchangeBody, nativeBody, startQuery } from './schemas.ts'
import { digestOf } from './secrets.ts'

/** A sign-in, the question for a second factor, or an identity that was added. */
type Exchanged = SignInAnswer | { status: 'confirmation_required' } | { status: 'linked'; identity: Identity }

/** Sign-in with Google, Apple, Microsoft and GitHub: in the browser, and with the ID token of a native application. */
@Controller('/auth/oauth', { auth: false })
export class OAuthController {
  constructor(
    private readonly arrivals: Arrivals,
    private readonly beginning: Beginning,
    private readonly clients: ProviderClients,
    private readonly codes: HandoffCodes,
    private readonly credentials: Credentials,
    private readonly flows: Flows,
    private readonly limits: Limits,
    private readonly pages: Pages,
    private readonly sessions: Sessions,
    private readonly settings: SettingsRows,
    private readonly usedIdTokens: UsedIdTokens,
  ) {}

  /** Sends the browser to the provider. The application keeps the PKCE verifier, which the exchange needs. */
  @Get(':provider/start')
  async start(
    @Param('provider') name: string,
    @Query(startQuery) query: v.InferOutput<typeof startQuery>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Response> {
    const provider = requireProvider(name)
    const address = await this.beginning.begin(provider, query, clientOf(request, requestId))
    return address === undefined ? refuse(query.redirect_to, authError('provider_failed')) : redirect(address, 302)
  }

  @Get(':provider/callback')
  async answered(@Param('provider') name: string, @Req() request: Request, @RequestId() requestId: string) {
    const { searchParams } = new URL(request.url)
    return this.finish(requireProvider(name), searchParams, clientOf(request, requestId))
  }

  /** Apple posts its answer from its own page, so no cookie of this site would come with it. None is needed. */
  @Post(':provider/callback')
  async posted(@Param('provider') name: string, @Req() request: Request, @RequestId() requestId: string) {
    const provider = requireProvider(name)
    if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers.get('content-type') ?? '')) {
      throw new HttpError(415, 'unsupported_media_type', 'the body must be application/x-www-form-urlencoded')
    }
    return this.finish(provider, new URLSearchParams(await request.text()), clientOf(request, requestId))
  }

  /**
   * The application trades its code for tokens. A guest who has no account with this provider becomes one. A user who adds an identity
   * must be signed in, so that no person can be made to add their identity to another one's account.
   */
  @Post('exchange')
  async exchange(
    @Body(exchangeBody) { code, code_verifier }: v.InferOutput<typeof exchangeBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Exchanged> {
    const client = clientOf(request, requestId)
    const handoff = await Database.$apart((sql) => this.codes.consume(code, sql))
    if (!handoff) throw authError('invalid_code')
    const { person, clientKey, linkUserId } = handoff
    const named = { provider: person.provider, client_key: clientKey }
    if ((await digestOf(code_verifier)) !== handoff.appChallenge) {
      throw await this.arrivals.failed(authError('invalid_code'), named, client)
    }
    const { found, settings, caller, foreseen } = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      return {
        settings: document,
        found: await this.clients.find(person.provider, clientKey, sql),
        caller: await this.sessions.callerIfAny(sql),
        foreseen: linkUserId === null ? await this.arrivals.foresee(person, document, sql) : ('known' as const),
      }
    })
    if (found instanceof HttpError) throw await this.arrivals.failed(found, named, client)
    if (foreseen instanceof HttpError) throw await this.arrivals.failed(foreseen, named, client)
    const origin = originOf(person.provider, found)
    if (linkUserId !== null) {
      if (caller?.id !== linkUserId)
        throw new HttpError(401, 'unauthorized', 'the user who began this must be signed in')
      return this.arrivals.link(linkUserId, { person, origin, client })
    }
    const guestId = caller?.isGuest ? caller.id : undefined
    return this.arrivals.settle({ person, origin, client, guestId }, foreseen, settings)
  }

  /** Signs in with the ID token that a provider's own library has given to a native application. Each token is good once. */
  @Post(':provider/native')
  async native(
    @Param('provider') name: string,
    @Body(nativeBody) body: v.InferOutput<typeof nativeBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Exchanged> {
    const provider = requireProvider(name)
    if (provider === 'github')
      throw authError('client_not_found', 'GitHub has no native clients: sign in with a browser')
    const client = clientOf(request, requestId)
    const admitted = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      const network = networkOf(client)
      const refused = network && (await this.limits.take(sql, 'provider_sign_in_per_address', network, document))
      return refused || this.clients.findOf('native', provider, body.client_key, sql)
    })
    if (admitted instanceof HttpError) throw admitted
    const origin = originOf(provider, admitted)
    const verified = await this.verified(provider, admitted, body)
    if (verified instanceof HttpError) throw await this.arrivals.failed(verified, origin, client)
    const { person, exp } = verified
    const { isNew, settings, caller, foreseen } = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      return {
        isNew: await this.usedIdTokens.use(body.id_token, exp, sql),
        settings: document,
        caller: await this.sessions.callerIfAny(sql),
        foreseen: await this.arrivals.foresee(person, document, sql),
      }
    })
    const fault = isNew ? foreseen : authError('invalid_id_token', 'the ID token was used already')
    if (fault instanceof HttpError) throw await this.arrivals.failed(fault, origin, client)
    return this.arrivals.settle(
      { person, origin, client, guestId: caller?.isGuest ? caller.id : undefined },
      fault,
      settings,
    )
  }

  private async verified(
    provider: OAuthProvider,
    client: ProviderClient,
    body: v.InferOutput<typeof nativeBody>,
  ): Promise<{ person: Person; exp: number } | HttpError> {
    try {
      const claims = await verifyNative(provider, client, await discover(provider, client), body)
      return { person: personFrom(provider, claims), exp: claims.exp }
    } catch (error) {
      Log.warn('an ID token was refused', { provider, client_key: client.key, ...reasonOf(error) })
      return authError(isOutage(error) ? 'provider_failed' : 'invalid_id_token')
    }
  }

  /** Takes the provider's answer, and sends the browser back to the application with a code or with an error. */
  private async finish(provider: OAuthProvider, parameters: URLSearchParams, from: ClientInfo): Promise<Response> {
    const state = parameters.getAll('state')
    const begun = state.length === 1 && state[0] !== '' ? await this.open(provider, state[0]!) : undefined
    if (!begun) return this.pages.signInFailed(authError('invalid_state'))
    const { flow, client, fault, credential } = begun
    if (fault) return this.pages.signInFailed(authError('invalid_redirect'))
    if (client instanceof HttpError) return this.sendBack(flow, client, from)
    const refusal = providerError(provider, parameters)
    if (refusal) return this.sendBack(flow, refusal, from)
    let person: Awaited<ReturnType<typeof readAnswer>>
    try {
      person = await readAnswer({ flow, state: state[0]!, client, credential, parameters })
    } catch (error) {
      Log.warn('the answer of a provider was refused', { provider, client_key: client.key, ...reasonOf(error) })
      return this.sendBack(flow, authError('provider_failed'), from)
    }
    const issued = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      const foreseen = flow.linkUserId === null ? await this.arrivals.foresee(person, document, sql) : undefined
      if (foreseen instanceof HttpError) return foreseen
      const { clientKey, appChallenge, linkUserId } = flow
      return this.codes.issue({ person, clientKey, appChallenge, linkUserId }, sql)
    })
    if (issued instanceof HttpError) return this.sendBack(flow, issued, from)
    return redirectBack(flow.redirectTo, { code: issued })
  }

  /** The flow of a `state`, used up, with everything that is needed of the database: none of it is held while the provider is asked. */
  private async open(provider: OAuthProvider, state: string) {
    return Database.$apart(async (sql) => {
      const flow = await this.flows.consume(provider, state, sql)
      if (!flow) return undefined
      const client = await this.clients.findOf('browser', provider, flow.clientKey, sql)
      if (client instanceof HttpError) return { flow, client, fault: undefined, credential: undefined }
      const { document } = await this.settings.read(sql)
      // an address that was taken from the lists since is no place to send a browser to
      const fault = redirectFault(flow.redirectTo, client, document)
      const credential = fault ? undefined : await this.opened(provider, client, sql)
      return { flow, client, fault, credential }
    })
  }

  private async opened(
    provider: OAuthProvider,
    client: ProviderClient,
    sql: Parameters<Credentials['open']>[2],
  ): Promise<OpenCredential | undefined> {
    try {
      return await this.credentials.open(provider, client.credential_ref ?? client.key, sql)
    } catch (error) {
      Log.error('a credential of a provider cannot be opened', {
        provider,
        client_key: client.key,
        ...reasonOf(error),
      })
      return undefined
    }
  }

  private async sendBack(flow: Flow, error: HttpError, from: ClientInfo): Promise<Response> {
    const named = { provider: flow.provider, client_key: flow.clientKey }
    return refuse(flow.redirectTo, await this.arrivals.failed(error, named, from))
  }
}

const refuse = (redirectTo: string, { code, message }: HttpError) =>
  redirectBack(redirectTo, { error: code, error_description: message })

/**
 * The error that the provider reports (RFC 6749 section 4.1.2.1). Its words are not passed on, because any holder of a `state` could
 * write them.
 *
 * @returns `undefined` where it reports none.
 */
function providerError(provider: OAuthProvider, parameters: URLSearchParams): HttpError | undefined {
  const error = parameters.get('error')
  if (error === null) return undefined
  const title = titleOf(provider)
  // Apple has a word of its own for a person who goes back
  const isDenied = error === 'access_denied' || error === 'user_cancelled_authorize' || error === 'consent_required'
  Log.info('a provider reports an error', { provider, reported: error.slice(0, 100) })
  return isDenied
    ? authError('access_denied', `the sign-in with ${title} was cancelled`)
    : authError('provider_failed', `${title} reports an error`)
}
