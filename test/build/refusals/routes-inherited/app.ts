import { Controller, Get, Module } from '@stack/backend'

@Controller('/health')
export class HealthController {
  @Get()
  show(): string {
    return 'well'
  }
}

@Controller('/status')
export class StatusController extends HealthController {}

@Module({ controllers: [HealthController, StatusController] })
export class AppModule {}
