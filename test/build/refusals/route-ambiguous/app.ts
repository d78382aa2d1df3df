import { Controller, Database, Get, Module, Param } from '@stack/backend'

@Controller('/products')
export class ProductsController {
  @Get(':id')
  byId(@Param('id') id: string) {
    return Database.sql`select * from products where id = ${id}`
  }

  @Get(':sku')
  bySku(@Param('sku') sku: string) {
    return Database.sql`select * from products where sku = ${sku}`
  }
}

@Module({ controllers: [ProductsController] })
export class AppModule {}
