import { Cron, Injectable, Module } from '@stack/backend'

@Injectable()
export class Reports {
  @Cron('0 6 * * *')
  write() {}
}

@Injectable()
export class DailyReports extends Reports {}

@Module({ providers: [{ provide: Reports, useClass: DailyReports }] })
export class AppModule {}
