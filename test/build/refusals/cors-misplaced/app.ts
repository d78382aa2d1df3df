import { Module } from '@stack/backend'
import { CatalogueModule } from './catalogue.module.ts'

@Module({ imports: [CatalogueModule] })
export class AppModule {}
// file: src/catalogue.module.ts
import { Controller, Get, Module } from '@stack/backend'

@Controller('/catalogue', { auth: false })
export class CatalogueController {
  @Get()
  list(): string[] {
    return []
  }
}

@Module({ controllers: [CatalogueController], cors: { origins: ['*'] } })
export class CatalogueModule {}
