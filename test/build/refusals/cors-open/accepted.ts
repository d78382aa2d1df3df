import { Controller, Get, Module } from '@stack/backend'

@Controller('/catalogue', { auth: false })
export class CatalogueController {
  @Get()
  list(): string[] {
    return []
  }
}

@Module({ controllers: [CatalogueController], cors: { origins: ['https://app.example'], credentials: true } })
export class AppModule {}
