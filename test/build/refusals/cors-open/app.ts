import { Controller, Get, Module } from '@stack/backend'

@Controller('/catalogue', { auth: false })
export class CatalogueController {
  @Get()
  list(): string[] {
    return []
  }
}

@Module({ controllers: [CatalogueController], cors: { origins: ['*'], credentials: true } })
export class AppModule {}
