import { Cron, Injectable, Module } from '@stack/backend'

@Injectable()
export class Reports {
  @Cron('0 23 * * *')
  write() {}
}

@Module({ providers: [Reports] })
export class AppModule {}
