import { Cron, Injectable, Module } from '@stack/backend'

@Injectable()
export class Reports {
  @Cron('0 6 * * MON')
  @Cron('0  6 * * mon')
  write() {}
}

@Module({ providers: [Reports] })
export class AppModule {}
