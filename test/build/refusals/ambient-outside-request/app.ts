import { Controller, Get, Module, Secrets } from '@stack/backend'

const key = Secrets.get('PARTNER_KEY')

@Controller('/partner')
export class PartnerController {
  @Get()
  show(): number {
    return key.length
  }
}

@Module({ controllers: [PartnerController] })
export class AppModule {}
