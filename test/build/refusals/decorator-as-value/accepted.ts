import { Controller, Get, Module } from '@stack/backend'

@Controller('/catalogue')
export class CatalogueController {
  @Get('products', { auth: false })
  products(): string[] {
    return ['tea']
  }
}

@Module({ controllers: [CatalogueController] })
export class AppModule {}
