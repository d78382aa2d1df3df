import { Controller, Get, Module } from '@stack/backend'

@Controller('/admin/accounts', { auth: { serviceRole: true } })
export class AccountsController {
  @Get() list() {
    return []
  }
}

@Module({ controllers: [AccountsController] })
export class AppModule {}
