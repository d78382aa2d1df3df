import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { MailModule } from '../mail/module.ts'
import { ProvidersModule } from '../providers/module.ts'
import { SessionsModule } from '../sessions/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { WebauthnModule } from '../webauthn/module.ts'
import { AdministeredMfaController } from './administration.ts'
import { FactorChanges } from './changes.ts'
import { MfaController } from './routes.ts'
import { Challenges, Factors, Recovery } from './rows.ts'
import { SecondStep } from './second-step.ts'

/** Second factors of accounts. */
@Module({
  imports: [
    AuditModule,
    LimitsModule,
    MailModule,
    ProvidersModule,
    SessionsModule,
    SettingsModule,
    UsersModule,
    WebauthnModule,
  ],
  controllers: [MfaController, AdministeredMfaController],
  providers: [Challenges, FactorChanges, Factors, Recovery, SecondStep],
})
export class MfaModule {}
