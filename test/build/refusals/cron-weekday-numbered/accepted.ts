import { Cron, Injectable, Module } from '@stack/backend'

@Injectable()
export class Reports {
  @Cron('0 6 * * MON-FRI')
  write() {}
}

@Module({ providers: [Reports] })
export class AppModule {}
