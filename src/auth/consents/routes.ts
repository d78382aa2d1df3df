import { Body, Controller, Delete, Get, Param, Post, Req, RequestId, User, type UserT } from '@stack/backend'
import * as v from 'valibot'
import { Audit } from '../audit/rows.ts'
import { type ClientInfo, clientOf } from '../shared/client.ts'
import { type Listed, whole } from '../shared/list.ts'
import { strictObject } from '../shared/strict-object.ts'
import { type Consent, Consents } from './rows.ts'

const consent = strictObject({
  document: v.pipe(
    v.string(),
    v.regex(
      /^[a-z0-9][a-z0-9._-]{0,62}$/,
      'the name of a document is lowercase letters, digits, dots, dashes and underscores',
    ),
  ),
  version: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
})

/** What the caller has agreed to: terms, a privacy notice. */
@Controller('/auth/consents', { auth: true })
export class ConsentsController {
  constructor(
    private readonly audit: Audit,
    private readonly consents: Consents,
  ) {}

  @Get()
  async list(@User() { id }: UserT): Promise<Listed<Consent>> {
    return whole(await this.consents.ofUser(id))
  }

  /** Agreeing twice is agreeing once. */
  @Post()
  async grant(
    @Body(consent) { document, version }: v.InferOutput<typeof consent>,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    const client = clientOf(request, requestId)
    const isNew = await this.consents.grant(id, document, version, client)
    if (isNew) await this.note('consent.granted', id, client, { document, version })
  }

  /** Withdraws every version of the document. Withdrawing what was not agreed to changes nothing. */
  @Delete(':document')
  async withdraw(
    @Param('document') document: string,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    const withdrawn = await this.consents.withdraw(id, document)
    if (withdrawn > 0) await this.note('consent.withdrawn', id, clientOf(request, requestId), { document })
  }

  private note(
    event: 'consent.granted' | 'consent.withdrawn',
    id: string,
    client: ClientInfo,
    details: Record<string, unknown>,
  ): Promise<void> {
    return this.audit.record({ event, actor: { type: 'user', id }, target: { type: 'user', id }, client, details })
  }
}
