import { Controller, Get, HttpError, Param } from '@stack/backend'
import { Pages } from './show.ts'
import { lostPage } from './views.ts'

/** The paths that forms are posted to. A browser that is restarted opens the last one again, with GET. */
const posted = new Set(['confirm', 'resend', 'reset', 'forgot', 'change', 'undo'])

@Controller('/auth/pages', { auth: false })
export class LostPagesController {
  constructor(private readonly pages: Pages) {}

  @Get(':page')
  async reopened(@Param('page') page: string): Promise<Response> {
    if (!posted.has(page)) throw new HttpError(404, 'not_found', `there is no page "${page}"`)
    return this.pages.show(async () => lostPage())
  }
}
