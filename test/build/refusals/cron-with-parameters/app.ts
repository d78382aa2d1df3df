import { Cron, Injectable, Module } from '@stack/backend'

@Injectable()
export class Reports {
  @Cron('0 6 * * *')
  write(day: Date) {
    return day
  }
}

@Module({ providers: [Reports] })
export class AppModule {}
