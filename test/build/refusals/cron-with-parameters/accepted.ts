import { Cron, Injectable, Module } from '@stack/backend'

@Injectable()
export class Reports {
  @Cron('0 6 * * *')
  write() {
    return new Date()
  }
}

@Module({ providers: [Reports] })
export class AppModule {}
