import { Controller, Get, Module, User, type UserT } from '@stack/backend'

@Controller('/account')
export class AccountController {
  @Get()
  show(@User('id') user: UserT) {
    return { id: user.id, email: user.email }
  }
}

@Module({ controllers: [AccountController] })
export class AppModule {}
