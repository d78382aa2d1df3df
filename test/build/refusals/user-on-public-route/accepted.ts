import { Controller, Get, Module, User, type UserT } from '@stack/backend'

@Controller('/catalogue')
export class CatalogueController {
  @Get()
  greet(@User() user: UserT) {
    return { greeting: `Welcome back, ${user.email}` }
  }
}

@Module({ controllers: [CatalogueController] })
export class AppModule {}
