import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { MailModule } from '../mail/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { IdentitiesController } from './routes.ts'
import { Identities } from './rows.ts'

/** The identities of users at the providers that they sign in with. */
@Module({
  imports: [AuditModule, MailModule, SettingsModule, UsersModule],
  controllers: [IdentitiesController],
  providers: [Identities],
  exports: [Identities],
})
export class IdentitiesModule {}
