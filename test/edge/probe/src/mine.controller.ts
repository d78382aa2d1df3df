import { Controller, Database, Get, Log, Param, Post, Query, Req, RequestId, User, type UserT } from '@stack/backend'

/** Answers the caller's own data, through every service that belongs to one request. */
@Controller('mine', { auth: true })
export class MineController {
  @Get()
  async mine(@User() user: UserT, @RequestId() id: string, @Query('nonce') nonce: string) {
    const notes = await Database.sql`
      select owner, text, auth.uid() as uid, ${nonce}::text as nonce from notes order by notes.id`
    Log.info('somebody looked', { nonce })
    return { user, id, notes }
  }

  /** Asks nothing of the database, so that the runtime alone keeps requests apart. */
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

  /** Writes, waits without a statement, and writes again. */
  @Post('pausing/:text')
  async pausing(@Param('text') text: string, @Query('seconds') seconds: string) {
    await Database.sql`insert into notes (text) values (${`${text} first`})`
    const { promise, resolve } = Promise.withResolvers<void>()
    setTimeout(resolve, Number(seconds) * 1000)
    await promise
    await Database.sql`insert into notes (text) values (${`${text} last`})`
  }

  /** Runs for a long time, in statements of at most 5 s each. */
  @Post('lasting/:text')
  async lasting(@Param('text') text: string, @Query('seconds') seconds: string) {
    await Database.sql`insert into notes (text) values (${`${text} first`})`
    for (let rest = Number(seconds); rest > 0; rest -= 5)
      await Database.sql`select pg_sleep(${Math.min(rest, 5)}::float8)`
  }

  /** Leaves work for after the commit, and reads there what the request has written. */
  @Post('after/:text')
  async after(@Param('text') text: string, @User() { id }: UserT, @Query('fails') fails: string | undefined) {
    const note = (what: string) =>
      Database.$asService().sql`insert into notes (owner, text) values (${id}, ${`${text} ${what}`})`
    Database.$afterCommit(async () => {
      await note('lost')
      throw new Error('this work fails')
    })
    Database.$afterCommit(async () => {
      const seen = await Database.$asService().sql`select from notes where text = ${`${text} written`}`
      const [caller] = await Database.sql<{ uid: string | null }>`select auth.uid() as uid`
      await note(`${seen.length} seen by ${caller!.uid ?? 'none'}`)
    })
    await note('written')
    if (fails) throw new Error('the request fails')
  }
}
