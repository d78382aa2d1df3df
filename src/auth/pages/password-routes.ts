import { Controller, Get, HttpError, Post, Req, RequestId } from '@stack/backend'
import * as v from 'valibot'
import { token } from '../mail/schemas.ts'
import { OneTimeTokens } from '../mail/tokens.ts'
import { ForgottenPasswords } from '../passwords/forgotten.ts'
import { password } from '../passwords/schemas.ts'
import { clientOf } from '../shared/client.ts'
import { email as emailSchema } from '../shared/fields.ts'
import { readForm, tokenOf } from './form.ts'
import type { Page, Site } from './frame.ts'
import { Pages, undoneIfRefused } from './show.ts'
import * as views from './views.ts'

/** The link of the mail for a forgotten password. */
@Controller('/auth', { auth: false })
export class PasswordPagesController {
  constructor(
    private readonly pages: Pages,
    private readonly passwords: ForgottenPasswords,
    private readonly tokens: OneTimeTokens,
  ) {}

  @Get('password/reset')
  async resetPage(@Req() request: Request): Promise<Response> {
    return this.pages.show((site) => this.askFor(site, tokenOf(request)))
  }

  @Post('pages/reset')
  async reset(@Req() request: Request, @RequestId() requestId: string): Promise<Response> {
    return this.pages.show(async (site) => {
      const form = await readForm(request, 'token', 'password')
      if (!v.is(token, form.token)) return views.incompletePage()
      if (!v.is(password, form.password)) return this.askFor(site, form.token, 'The password is too long.')
      try {
        const replacement = await this.passwords.prepare({ token: form.token }, form.password)
        const outcome = await undoneIfRefused(() => this.passwords.replace(replacement, clientOf(request, requestId)))
        return outcome instanceof HttpError ? views.resetOverPage(site) : views.resetDonePage()
      } catch (error) {
        if (!(error instanceof HttpError)) throw error
        if (error.code === 'invalid_token') return views.resetOverPage(site)
        if (error.code !== 'invalid_password') throw error
        return this.askFor(site, form.token, views.sentence(error.message))
      }
    })
  }

  /** Like the JSON route: every address gets the same answer. */
  @Post('pages/forgot')
  async forgot(@Req() request: Request, @RequestId() requestId: string): Promise<Response> {
    return this.pages.show(async (site) => {
      const form = await readForm(request, 'email')
      const { success, output } = v.safeParse(emailSchema, form.email)
      if (!success) return views.resetOverPage(site, { value: form.email, reason: 'This is no email address.' })
      await this.passwords.request(output, clientOf(request, requestId))
      return views.forgottenPage(output)
    })
  }

  /** @param reason why the password of the form was refused. */
  private async askFor(site: Site, given: string | undefined, reason?: string): Promise<Page> {
    if (!v.is(token, given)) return views.incompletePage()
    const found = await this.tokens.find('reset_password', { token: given })
    return found?.user_id ? views.resetPage(site, given, found.target, reason) : views.resetOverPage(site)
  }
}
