import { Controller, Get, Module } from '@stack/backend'

@Controller('/reports', { auth: { role: 'staff' } })
export class ReportsController {
  @Get()
  list(): string[] {
    return []
  }
}

@Module({ controllers: [ReportsController] })
export class AppModule {}
