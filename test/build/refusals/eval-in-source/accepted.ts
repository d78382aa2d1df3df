import { Controller, Get, Module, Query } from '@stack/backend'

@Controller('/sums')
export class SumsController {
  @Get()
  show(@Query('term') term?: string): unknown {
    return Number(term)
  }
}

@Module({ controllers: [SumsController] })
export class AppModule {}
