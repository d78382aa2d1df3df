import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { MailModule } from '../mail/module.ts'
import { MfaModule } from '../mfa/module.ts'
import { PasswordsModule } from '../passwords/module.ts'
import { SessionsModule } from '../sessions/module.ts'
import { UsersModule } from '../users/module.ts'
import { Addresses } from './addresses.ts'
import { EmailsController } from './routes.ts'

/** The address of an account: its confirmation and its change. */
@Module({
  imports: [AuditModule, MailModule, MfaModule, PasswordsModule, SessionsModule, UsersModule],
  controllers: [EmailsController],
  providers: [Addresses],
})
export class EmailsModule {}
