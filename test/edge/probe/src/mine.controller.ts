import { Controller, Database, Get, Log, Param, Post, Query, Req, RequestId, User, type UserT } from '@stack/backend'

/** What somebody sees of themselves, through everything that a request keeps to itself. */
@Controller('mine', { auth: true })
export class MineController {
  @Get()
  async mine(@User() user: UserT, @RequestId() id: string, @Query('nonce') nonce: string) {
    const notes = await Database.sql`
      select owner, text, auth.uid() as uid, ${nonce}::text as nonce from notes order by notes.id`
    Log.info('somebody looked', { nonce })
    return { user, id, notes }
  }

  /** Asks the database nothing: what is one request's here is kept apart by the runtime alone. */
  @Get('ambient')
  async ambient(@Req() request: Request, @RequestId() id: string, @Query('nonce') nonce: string) {
    const { promise, resolve } = Promise.withResolvers<void>()
    setTimeout(resolve, 1)
    await promise
    return { authorization: request.headers.get('authorization'), id, nonce }
  }

  /** Writes, keeps its transaction open, and writes again. */
  @Post('slow/:text')
  async slow(@Param('text') text: string, @Query('seconds') seconds: string) {
    await Database.sql`insert into notes (text) values (${`${text} first`})`
    await Database.sql`select pg_sleep(${seconds}::float8)`
    await Database.sql`insert into notes (text) values (${`${text} last`})`
  }
}
