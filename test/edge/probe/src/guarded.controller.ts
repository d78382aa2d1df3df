import { Controller, Database, Get, Log, Param, Post } from '@stack/backend'

/** Logs a line before it asks the database, so that a test sees whether the handler ran without a role that was read. */
@Controller('guarded', { auth: { role: 'insider' } })
export class GuardedController {
  @Get()
  enter() {
    return 'entered'
  }

  @Post('note/:text')
  async note(@Param('text') text: string) {
    Log.info('the guarded handler runs', { text })
    await Database.sql`insert into notes (text) values (${text})`
    return text
  }

  @Post('swallow/:text')
  async swallow(@Param('text') text: string) {
    Log.info('the guarded handler runs', { text })
    await Database.sql`insert into notes (text) values (${text})`.catch(() => {})
    return text
  }

  @Post('both/:text')
  async both(@Param('text') text: string) {
    Log.info('the guarded handler runs', { text })
    await Database.$asService().sql`insert into notes (owner, text) values ('service', ${`${text} by the service`})`
    await Database.sql`insert into notes (text) values (${`${text} by the caller`})`
    return text
  }
}
