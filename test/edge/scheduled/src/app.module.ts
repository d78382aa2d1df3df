import { Controller, Cron, Database, Get, Injectable, Log, Module, RequestId, Secrets } from '@stack/backend'

interface Count {
  count: number
}

/** Scheduled for days that come seldom: a test runs each method by its name or by its schedule. */
@Injectable()
export class Jobs {
  @Cron('0 0 29 feb *')
  @Cron('30 0 29 FEB *')
  async record() {
    const [seen] = await Database.sql<Count>`select count(*)::int as count from runs`
    Log.info('recording', { secret: Secrets.get('PAYMENTS_SECRET') === 'payments-secret' })
    await Database.$asService()
      .sql`insert into runs (job, request_id, callers_rows) values ('record', '', ${seen!.count})`
    return { dropped: true }
  }

  @Cron('0 0 29 FEB *')
  async fail() {
    await Database.$asService().sql`insert into runs (job, request_id) values ('fail', '')`
    throw new TypeError('there is no paper')
  }

  @Cron('15 0 29 FEB *')
  async asUser() {
    await Database.sql`insert into runs (job, request_id) values ('asUser', '')`
  }
}

@Controller('jobs', { auth: false })
export class JobsController {
  @Get()
  show(@RequestId() id: string) {
    return { id }
  }
}

@Module({ controllers: [JobsController], providers: [Jobs] })
export class AppModule {}
