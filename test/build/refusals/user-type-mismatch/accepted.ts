import { Controller, Get, Module, User, type UserT } from '@stack/backend'

type Account = Pick<UserT, 'id'>

@Controller('/me')
export class MeController {
  @Get()
  show(@User() user: Account): string {
    return user.id
  }
}

@Module({ controllers: [MeController] })
export class AppModule {}
