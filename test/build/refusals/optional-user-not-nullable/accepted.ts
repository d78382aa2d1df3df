import { Controller, Get, Module, OptionalUser, type UserT } from '@stack/backend'

@Controller('/catalogue', { auth: false })
export class CatalogueController {
  @Get()
  show(@OptionalUser() user: UserT | null): string {
    return `hello, ${user?.id ?? "you"}`
  }
}

@Module({ controllers: [CatalogueController] })
export class AppModule {}
