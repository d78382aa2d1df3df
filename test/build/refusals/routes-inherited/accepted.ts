import { Controller, Get, Module } from '@stack/backend'

class Health {
  state(): string {
    return 'well'
  }
}

@Controller('/health')
export class HealthController extends Health {
  @Get()
  show(): string {
    return this.state()
  }
}

@Controller('/status')
export class StatusController extends Health {
  @Get()
  show(): string {
    return this.state()
  }
}

@Module({ controllers: [HealthController, StatusController] })
export class AppModule {}
