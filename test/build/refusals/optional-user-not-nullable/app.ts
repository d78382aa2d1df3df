import { Controller, Get, Module, OptionalUser, type UserT } from '@stack/backend'

@Controller('/catalogue', { auth: false })
export class CatalogueController {
  @Get()
  show(@OptionalUser() user: UserT): string {
    return `hello, ${user.id}`
  }
}

@Module({ controllers: [CatalogueController] })
export class AppModule {}
