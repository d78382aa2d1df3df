import { Controller, Get, Module, Secrets } from '@stack/backend'
import { partner } from './partner.ts'

const key = () => Secrets.get('PARTNER_KEY')

@Controller('/partner')
export class PartnerController {
  @Get()
  show(): number {
    return key().length + partner().length
  }
}

@Module({ controllers: [PartnerController] })
export class AppModule {}
// file: src/partner.ts
import { Secrets } from '@stack/backend'

export const partner = () => Secrets.get('PARTNER_NAME')
