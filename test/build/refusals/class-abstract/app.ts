import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/documents')
export abstract class DocumentsController {
  protected readonly kind = 'invoice'

  @Get()
  list() {
    return Database.sql`select * from documents where kind = ${this.kind}`
  }
}

@Module({ controllers: [DocumentsController] })
export class AppModule {}
