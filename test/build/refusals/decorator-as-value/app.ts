import { Controller, Get, Module } from '@stack/backend'

const Open = (path: string) => Get(path, { auth: false })

@Controller('/catalogue')
export class CatalogueController {
  @Open('products')
  products(): string[] {
    return ['tea']
  }
}

@Module({ controllers: [CatalogueController] })
export class AppModule {}
