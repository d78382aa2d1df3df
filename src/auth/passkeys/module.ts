import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { MailModule } from '../mail/module.ts'
import { MfaModule } from '../mfa/module.ts'
import { SessionsModule } from '../sessions/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { WebauthnModule } from '../webauthn/module.ts'
import { PasskeyHandOffController } from './hand-off.ts'
import { PasskeyOptionsController, PasskeySignInController, PasskeysController } from './routes.ts'
import { PasskeySignIns } from './sign-in.ts'

/** Passkeys: enrolled, and used to sign in without a password. `mfa` lists and removes them. */
@Module({
  imports: [
    AuditModule,
    LimitsModule,
    MailModule,
    MfaModule,
    SessionsModule,
    SettingsModule,
    UsersModule,
    WebauthnModule,
  ],
  controllers: [PasskeysController, PasskeyHandOffController, PasskeySignInController, PasskeyOptionsController],
  providers: [PasskeySignIns],
})
export class PasskeysModule {}
