import { Cron, Injectable, Module } from '@stack/backend'

@Injectable()
export class Reports {
  @Cron('0 24 * * *')
  write() {}
}

@Module({ providers: [Reports] })
export class AppModule {}
