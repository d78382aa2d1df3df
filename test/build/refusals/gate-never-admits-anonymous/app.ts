import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/prices', { auth: { required: false, role: 'staff' } })
export class PricesController {
  @Get()
  list() {
    return Database.sql`select * from prices`
  }
}

@Module({ controllers: [PricesController] })
export class AppModule {}
