import { Controller, Get, Module, User, type UserT } from '@stack/backend'

@Controller('/auth')
export class SessionController {
  @Get('me')
  me(@User() user: UserT) {
    return { id: user.id, roles: user.roles }
  }
}

@Module({ controllers: [SessionController] })
export class AppModule {}
