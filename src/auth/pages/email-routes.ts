import { Controller, Database, Get, HttpError, Post, Req, RequestId } from '@stack/backend'
import * as v from 'valibot'
import { Addresses } from '../emails/addresses.ts'
import { token } from '../mail/schemas.ts'
import { type Found, OneTimeTokens, type Purpose } from '../mail/tokens.ts'
import { type ClientInfo, clientOf } from '../shared/client.ts'
import { email as emailSchema } from '../shared/fields.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import { readForm, tokenOf } from './form.ts'
import type { Page, Site } from './frame.ts'
import { Pages, undoneIfRefused } from './show.ts'
import * as views from './views.ts'

/** A page of a link, and what its button does. */
interface Link {
  purpose: Purpose
  ask(site: Site, token: string, email: string): Page
  act(found: Found, client: ClientInfo): Promise<string>
  done(site: Site, email: string): Page
  /** @param sql of the request, where its transaction has begun, so that no request waits for a second connection. */
  over(site: Site, token: string, sql: Sql): Page | Promise<Page>
}

/** The links of mails about an address. A GET, and the HEAD that it answers, uses nothing up: mail scanners open links. */
@Controller('/auth', { auth: false })
export class EmailPagesController {
  private readonly links: Record<'confirm' | 'change' | 'undo', Link>

  constructor(
    private readonly addresses: Addresses,
    private readonly pages: Pages,
    private readonly tokens: OneTimeTokens,
  ) {
    this.links = {
      confirm: {
        purpose: 'confirm_email',
        ask: views.confirmPage,
        act: (found, client) => this.addresses.confirm(found, client),
        done: views.confirmedPage,
        over: async (site, token, sql) => {
          const email = await this.addresses.confirmedBy(token, sql)
          return email === undefined ? views.confirmOverPage(site) : views.confirmedPage(site, email)
        },
      },
      change: {
        purpose: 'email_change',
        ask: views.changePage,
        act: (found, client) => this.addresses.change(found, client),
        done: (_site, email) => views.changedPage(email),
        over: views.changeOverPage,
      },
      undo: {
        purpose: 'email_change_undo',
        ask: views.undoPage,
        act: (found, client) => this.addresses.undo(found, client),
        done: (_site, email) => views.keptPage(email),
        over: views.undoOverPage,
      },
    }
  }

  @Get('email/confirm')
  async confirmPage(@Req() request: Request): Promise<Response> {
    return this.ask('confirm', tokenOf(request))
  }

  @Post('pages/confirm')
  async confirm(@Req() request: Request, @RequestId() requestId: string): Promise<Response> {
    return this.act('confirm', request, clientOf(request, requestId))
  }

  @Get('email/change')
  async changePage(@Req() request: Request): Promise<Response> {
    return this.ask('change', tokenOf(request))
  }

  @Post('pages/change')
  async change(@Req() request: Request, @RequestId() requestId: string): Promise<Response> {
    return this.act('change', request, clientOf(request, requestId))
  }

  @Get('email/undo')
  async undoPage(@Req() request: Request): Promise<Response> {
    return this.ask('undo', tokenOf(request))
  }

  @Post('pages/undo')
  async undo(@Req() request: Request, @RequestId() requestId: string): Promise<Response> {
    return this.act('undo', request, clientOf(request, requestId))
  }

  /** Like the JSON route: every address gets the same answer. */
  @Post('pages/resend')
  async resend(@Req() request: Request, @RequestId() requestId: string): Promise<Response> {
    return this.pages.show(async (site) => {
      const form = await readForm(request, 'email')
      const { success, output } = v.safeParse(emailSchema, form.email)
      if (!success) return views.confirmOverPage(site, { value: form.email, reason: 'This is no email address.' })
      await this.addresses.resend(output, clientOf(request, requestId))
      return views.resentPage(output)
    })
  }

  private ask(name: keyof EmailPagesController['links'], given: string | undefined): Promise<Response> {
    const link = this.links[name]
    return this.pages.show(async (site) => {
      if (!v.is(token, given)) return views.incompletePage()
      const found = await this.tokens.find(link.purpose, { token: given })
      return found?.user_id
        ? link.ask(site, given, found.target)
        : Database.$apart(async (sql) => link.over(site, given, sql))
    })
  }

  private act(name: keyof EmailPagesController['links'], request: Request, client: ClientInfo): Promise<Response> {
    const link = this.links[name]
    return this.pages.show(async (site) => {
      const form = await readForm(request, 'token')
      if (!v.is(token, form.token)) return views.incompletePage()
      const found = await this.tokens.find(link.purpose, { token: form.token })
      if (!found) return Database.$apart(async (sql) => link.over(site, form.token, sql))
      const outcome = await undoneIfRefused(() => link.act(found, client))
      if (!(outcome instanceof HttpError)) return link.done(site, outcome)
      return outcome.code === 'email_taken' ? views.takenPage(found.target) : link.over(site, form.token, inRequest)
    })
  }
}
