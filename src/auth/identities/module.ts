import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { MailModule } from '../mail/module.ts'
import { UsersModule } from '../users/module.ts'
import { IdentitiesController } from './routes.ts'
import { Identities } from './rows.ts'

/** The identities of users at the providers that they sign in with. */
@Module({
  imports: [AuditModule, MailModule, UsersModule],
  controllers: [IdentitiesController],
  providers: [Identities],
  exports: [Identities],
})
export class IdentitiesModule {}
