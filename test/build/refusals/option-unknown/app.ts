import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/catalogue', { auht: false })
export class CatalogueController {
  @Get()
  show() {
    return Database.sql`select sku, name from products`
  }
}

@Module({ controllers: [CatalogueController] })
export class AppModule {}
