import { Controller, Cron, Get, Injectable, Module } from '@stack/backend'

@Controller('reports')
export class ReportsController {
  @Get()
  list() {
    return []
  }
}

@Injectable()
export class Reports {
  @Cron('0 6 * * *')
  write() {}
}

@Module({ controllers: [ReportsController], providers: [Reports] })
export class AppModule {}
