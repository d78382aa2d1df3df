import { Controller, Get, Req } from '@stack/backend'
import * as v from 'valibot'
import { isListed } from '../oauth/redirects.ts'
import { beginning, nextAddress } from '../passkeys/hand-off.ts'
import { passkeyScript } from './passkey-script.ts'
import { Pages } from './show.ts'
import * as views from './views.ts'

/** The page on which an application lets people sign in with a passkey, where it cannot do so itself. */
@Controller('/auth', { auth: false })
export class PasskeyPagesController {
  constructor(private readonly pages: Pages) {}

  /** Its parameters are those of an OAuth authorization request (RFC 6749 section 4.1.1, RFC 7636 section 4.3). */
  @Get('passkey')
  async passkeyPage(@Req() request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    return this.pages.show(async (site) => {
      const { success, output } = v.safeParse(beginning, Object.fromEntries(searchParams))
      const isOnce = new Set(searchParams.keys()).size === searchParams.size
      const listed = site.settings.redirect_allow_list ?? []
      if (!success || !isOnce || !isListed(output.redirect_to, listed)) return views.unplacedPage()
      const cancelled = nextAddress(output, { error: 'access_denied' })
      return { ...views.passkeyPage(site, output, cancelled), script: passkeyScript }
    })
  }
}
