import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { IdentitiesModule } from '../identities/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { MailModule } from '../mail/module.ts'
import { MfaModule } from '../mfa/module.ts'
import { ProvidersModule } from '../providers/module.ts'
import { SessionsModule } from '../sessions/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { Breaches } from './breaches.ts'
import { PasswordChecks } from './checks.ts'
import { ForgottenPasswords } from './forgotten.ts'
import { Reclaim } from './reclaim.ts'
import { PasswordResetController } from './reset.ts'
import { PasswordsController } from './routes.ts'
import { Passwords } from './rows.ts'

/** Sign-up and sign-in with an email address and a password, and its change. */
@Module({
  imports: [
    AuditModule,
    IdentitiesModule,
    LimitsModule,
    MailModule,
    MfaModule,
    ProvidersModule,
    SessionsModule,
    SettingsModule,
    UsersModule,
  ],
  controllers: [PasswordResetController, PasswordsController],
  providers: [Breaches, ForgottenPasswords, PasswordChecks, Passwords, Reclaim],
})
export class PasswordsModule {}
