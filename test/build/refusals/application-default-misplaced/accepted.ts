import { Module } from '@stack/backend'
import { CatalogueModule } from './catalogue.module.ts'

@Module({ imports: [CatalogueModule] })
export class AppModule {}
// file: src/catalogue.module.ts
import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/catalogue', { auth: false })
export class CatalogueController {
  @Get()
  show() {
    return Database.sql`select sku, name from products`
  }
}

@Module({ controllers: [CatalogueController] })
export class CatalogueModule {}
