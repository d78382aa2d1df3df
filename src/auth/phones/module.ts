import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { MailModule } from '../mail/module.ts'
import { MfaModule } from '../mfa/module.ts'
import { ProvidersModule } from '../providers/module.ts'
import { SessionsModule } from '../sessions/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { TextAdmission } from './admission.ts'
import { PhonesController } from './routes.ts'
import { Phones } from './rows.ts'
import { PhoneSignInController } from './sign-in.ts'

/** Phone numbers: sign-in with a code that is sent to one, and the number of an account. */
@Module({
  imports: [
    AuditModule,
    LimitsModule,
    MailModule,
    MfaModule,
    ProvidersModule,
    SessionsModule,
    SettingsModule,
    UsersModule,
  ],
  controllers: [PhonesController, PhoneSignInController],
  providers: [Phones, TextAdmission],
})
export class PhonesModule {}
