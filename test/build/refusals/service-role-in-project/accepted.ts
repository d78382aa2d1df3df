import { Controller, Get, Module } from '@stack/backend'

@Controller('/accounts', { auth: { role: 'staff' } })
export class AccountsController {
  @Get() list() {
    return []
  }
}

@Module({ controllers: [AccountsController] })
export class AppModule {}
