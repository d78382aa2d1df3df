import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { MfaModule } from '../mfa/module.ts'
import { ProvidersModule } from '../providers/module.ts'
import { SessionsModule } from '../sessions/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { PasswordChecks } from './checks.ts'
import { PasswordsController } from './routes.ts'
import { Passwords } from './rows.ts'

/** Sign-up and sign-in with an email address and a password, and its change. */
@Module({
  imports: [AuditModule, LimitsModule, MfaModule, ProvidersModule, SessionsModule, SettingsModule, UsersModule],
  controllers: [PasswordsController],
  providers: [PasswordChecks, Passwords],
})
export class PasswordsModule {}
