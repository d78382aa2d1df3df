import { Controller, Cron, Get, Module } from '@stack/backend'

@Controller('reports')
export class ReportsController {
  @Get()
  list() {
    return []
  }

  @Cron('0 6 * * *')
  write() {}
}

@Module({ controllers: [ReportsController] })
export class AppModule {}
