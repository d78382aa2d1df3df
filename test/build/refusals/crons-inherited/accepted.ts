import { Cron, Injectable, Module } from '@stack/backend'

export class Reports {
  write() {}
}

@Injectable()
export class DailyReports extends Reports {
  @Cron('0 6 * * *')
  override write() {}
}

@Module({ providers: [{ provide: Reports, useClass: DailyReports }] })
export class AppModule {}
