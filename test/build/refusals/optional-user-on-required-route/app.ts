import { Controller, Get, Module, OptionalUser, type UserT } from '@stack/backend'

@Controller('/catalogue')
export class CatalogueController {
  @Get('', { auth: true })
  greet(@OptionalUser() user: UserT | null) {
    return { greeting: user ? `Welcome back, ${user.email}` : 'Welcome' }
  }
}

@Module({ controllers: [CatalogueController] })
export class AppModule {}
