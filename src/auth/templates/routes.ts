import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  OptionalUser,
  Param,
  Post,
  Put,
  Req,
  RequestId,
  type UserT,
} from '@stack/backend'
import type * as v from 'valibot'
import { mostTemplates } from '../../wire/templates.ts'
import { Audit, administering, type Entry } from '../audit/rows.ts'
import { Catalogue, examplesOf, isBuiltIn, type KnownTemplate, partsOf } from '../mail/catalogue.ts'
import { commonValues } from '../mail/preparation.ts'
import { type Filled, fill } from '../mail/render.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import { authError } from '../shared/errors.ts'
import { type Listed, whole } from '../shared/list.ts'
import { requireMatch } from '../shared/precondition.ts'
import { suggestion } from '../shared/suggestion.ts'
import { previewed, requireDeclaration, requireFaultless, tested, texts, textsWith } from './schemas.ts'
import { type ListedTemplate, listed, locale, type ShownTemplate, shown } from './shown.ts'
import { type SentTest, TestMessages } from './test-messages.ts'

/** Bytes: three parts of 64 KiB, which JSON escapes (contract 2.11). */
const maxBodyBytes = 262_144

/** Templates of messages: the module's own and the project's. */
@Controller('/v1/management/auth/templates', { auth: { serviceRole: true }, maxBodyBytes })
export class TemplatesController {
  constructor(
    private readonly audit: Audit,
    private readonly catalogue: Catalogue,
    private readonly settings: SettingsRows,
    private readonly tests: TestMessages,
  ) {}

  @Get()
  async list(): Promise<Listed<ListedTemplate>> {
    return whole((await this.catalogue.list()).map(listed))
  }

  @Get(':key')
  async read(@Param('key') key: string): Promise<JsonResponse<ShownTemplate>> {
    return answer(await this.require(key))
  }

  /** Replaces the texts whole. Texts that are stored already change nothing. */
  @Put(':key')
  async replace(
    @Param('key') key: string,
    @Body(texts) given: v.InferOutput<typeof texts>,
    @Header('if-match') ifMatch: string | undefined,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<JsonResponse<ShownTemplate>> {
    const template = await this.begin(key, ifMatch)
    requireFaultless({ channel: template.channel, ...given }, template)
    const before = template.changed
    const parts = (['subject', 'body', 'body_text'] as const).filter((part) => given[part] !== before?.[part])
    if (parts.length === 0) return answer(template)
    await this.catalogue.change(key, given, operator?.id ?? 'service')
    const unconditional = ifMatch === undefined ? { unconditional: true } : {}
    await this.note('template.updated', key, { operator, request, requestId }, { parts, ...unconditional })
    return answer(await this.require(key))
  }

  /** The default counts again. Where nothing was changed, nothing happens. */
  @Delete(':key')
  async reset(
    @Param('key') key: string,
    @Header('if-match') ifMatch: string | undefined,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<JsonResponse<ShownTemplate>> {
    const template = await this.begin(key, ifMatch)
    if (!template.changed) return answer(template)
    await this.catalogue.reset(key)
    const unconditional = ifMatch === undefined ? { unconditional: true } : {}
    await this.note('template.reset', key, { operator, request, requestId }, unconditional)
    return answer(await this.require(key))
  }

  /** Declares a template of the project, as `stack start` does for each file of `stack/templates`. Changed texts of it stay. */
  @Put(':key/default', { auth: { serviceRole: 'key' } })
  async declare(
    @Param('key') key: string,
    @Body() body: unknown,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<JsonResponse<ShownTemplate>> {
    const declared = requireDeclaration(key, body)
    await this.catalogue.lock(key)
    const before = await this.catalogue.find(key)
    if (!before && (await this.catalogue.countDeclared()) >= mostTemplates) throw authError('too_many_templates')
    if (before && isSame(before, declared)) return answer(before)
    await this.catalogue.declare(declared)
    // texts of the other channel have another form
    if (before && before.channel !== declared.channel) await this.catalogue.reset(key)
    await this.note('template.declared', key, { operator: null, request, requestId })
    return answer(await this.require(key))
  }

  /** Removes a template of the project, with what was changed of it. One that is not there changes nothing. */
  @Delete(':key/default', { auth: { serviceRole: 'key' } })
  async withdraw(@Param('key') key: string, @Req() request: Request, @RequestId() requestId: string): Promise<void> {
    if (isBuiltIn(key)) throw authError('invalid_template', `"${key}" is a template of the stack itself: it stays`)
    await this.catalogue.lock(key)
    if (!(await this.catalogue.withdraw(key))) return
    await this.note('template.withdrawn', key, { operator: null, request, requestId })
  }

  /** Fills the template in with examples. Texts of the body stand in for the stored ones, and nothing is stored. */
  @Post(':key/preview')
  async preview(@Param('key') key: string, @Body(previewed) given: v.InferOutput<typeof previewed>): Promise<Filled> {
    const template = await this.require(key)
    const parts = { channel: template.channel, ...textsWith(given, partsOf(template)) }
    requireFaultless(parts, template)
    const examples = examplesOf(template)
    const unknown = Object.keys(given.variables).find((name) => !Object.hasOwn(examples, name))
    if (unknown !== undefined) {
      const reason = `unknown variable "${unknown.slice(0, 64)}": the variables are ${Object.keys(examples).join(', ')}`
      throw authError('invalid_template', reason, { fields: [{ path: 'variables', reason }] })
    }
    const { document } = await this.settings.read()
    const common = commonValues(document, { channel: 'email', recipient: examples['email']! }, undefined)
    return fill(parts, { ...examples, ...common, user_id: examples['user_id']!, ...given.variables })
  }

  /** Sends one real message at once. Its links and its code are examples, which open nothing. */
  @Post(':key/send-test', { status: 202 })
  async sendTest(
    @Param('key') key: string,
    @Body(tested) { to, locale: asked = locale }: v.InferOutput<typeof tested>,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<SentTest> {
    return this.tests.send(key, to, asked, administering(operator, request, requestId))
  }

  /** @throws HttpError 404 `template_not_found` */
  private async require(key: string): Promise<KnownTemplate> {
    const template = await this.catalogue.find(key)
    if (template) return template
    const keys = (await this.catalogue.list()).map((known) => known.key)
    throw authError('template_not_found', `there is no template "${key.slice(0, 64)}"${suggestion(key, keys)}`)
  }

  /** Locks the template until the request ends. @throws HttpError 404 `template_not_found`, 412 `precondition_failed` */
  private async begin(key: string, ifMatch: string | undefined): Promise<KnownTemplate> {
    await this.require(key)
    await this.catalogue.lock(key)
    const template = await this.require(key)
    requireMatch(ifMatch, template.etag, `the template "${key}"`)
    return template
  }

  private note(
    event: Entry['event'],
    key: string,
    { operator, request, requestId }: { operator: UserT | null; request: Request; requestId: string },
    details: Record<string, unknown> = {},
  ): Promise<void> {
    const who = administering(operator, request, requestId)
    return this.audit.record({ event, ...who, target: { type: 'template', id: key }, details })
  }
}

function answer(template: KnownTemplate): JsonResponse<ShownTemplate> {
  return jsonResponse(shown(template), { headers: { etag: template.etag, 'cache-control': 'no-store' } })
}

function isSame(known: KnownTemplate, { channel, subject, body, body_text, variables }: DeclaredState): boolean {
  const { default: texts } = known
  const sameTexts = texts.subject === subject && texts.body === body && texts.body_text === body_text
  return known.channel === channel && sameTexts && variablesText(known.variables) === variablesText(variables)
}

type DeclaredState = ReturnType<typeof requireDeclaration>

/** Postgres orders the members of an object by itself. */
function variablesText(variables: KnownTemplate['variables']): string {
  return JSON.stringify(variables.map(({ name, required, example }) => [name, required, example]))
}
