import { Controller, Get, Module, User } from '@stack/backend'

interface Account {
  name: string
}

@Controller('/me')
export class MeController {
  @Get()
  show(@User() user: Account): string {
    return user.name
  }
}

@Module({ controllers: [MeController] })
export class AppModule {}
