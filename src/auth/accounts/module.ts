import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { ConsentsModule } from '../consents/module.ts'
import { DevicesModule } from '../devices/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { MailModule } from '../mail/module.ts'
import { MfaModule } from '../mfa/module.ts'
import { PasswordsModule } from '../passwords/module.ts'
import { RolesModule } from '../roles/module.ts'
import { SessionsModule } from '../sessions/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { AccountExport } from './export.ts'
import { AccountsController } from './routes.ts'
import { Accounts } from './rows.ts'

/** The accounts of all users, for those who administer them. */
@Module({
  imports: [
    AuditModule,
    ConsentsModule,
    DevicesModule,
    LimitsModule,
    MailModule,
    MfaModule,
    PasswordsModule,
    RolesModule,
    SessionsModule,
    SettingsModule,
    UsersModule,
  ],
  controllers: [AccountsController],
  providers: [AccountExport, Accounts],
})
export class AccountsModule {}
