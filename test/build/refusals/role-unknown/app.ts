import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/staff/orders', { auth: { role: 'stuff' } })
export class StaffController {
  @Get()
  list() {
    return Database.sql`select * from orders`
  }
}

@Module({ controllers: [StaffController] })
export class AppModule {}
