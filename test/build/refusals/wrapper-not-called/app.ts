import { Controller, Get, Injectable, Module } from '@stack/backend'

@Injectable()
export class StaffGuard {
  canActivate(): boolean {
    return false
  }
}

@Controller('/reports')
export class ReportsController {
  @Get()
  list(): string[] {
    return []
  }
}

@Module({ controllers: [ReportsController], providers: [StaffGuard] })
export class AppModule {}
