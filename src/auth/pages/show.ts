import { Database, HttpError, Injectable } from '@stack/backend'
import { SettingsRows } from '../settings/rows.ts'
import { inRequest } from '../shared/sql.ts'
import { type Page, respond, type Site, siteOf } from './frame.ts'
import { refusedPage } from './views.ts'

@Injectable()
export class Pages {
  constructor(private readonly settings: SettingsRows) {}

  /**
   * @param work what it throws becomes a page. It must have written nothing, because the transaction commits: see `undoneIfRefused`.
   * @param title of that page.
   */
  async show(work: (site: Site) => Promise<Page>, title = 'This did not work'): Promise<Response> {
    const { document } = await Database.$apart((sql) => this.settings.read(sql))
    const site = siteOf(document)
    try {
      return await respond(await work(site), site)
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      return respond(refusedPage(error, title), site)
    }
  }

  /** The page for an error of a sign-in that has no application to go back to. */
  signInFailed(error: HttpError): Promise<Response> {
    return this.show(() => Promise.reject(error), 'The sign-in did not work')
  }
}

/**
 * A page is an answer like any other, so its transaction commits. This one takes back what the work has written before it was refused,
 * as a thrown error does for the JSON routes.
 */
export async function undoneIfRefused<Result>(work: () => Promise<Result>): Promise<Result | HttpError> {
  await inRequest`savepoint page`
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    await inRequest`rollback to savepoint page`
    return error
  }
}
