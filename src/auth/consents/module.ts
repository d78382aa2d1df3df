import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { UsersModule } from '../users/module.ts'
import { AdministeredConsentsController } from './administration.ts'
import { ConsentsController } from './routes.ts'
import { Consents } from './rows.ts'

/** What users have agreed to. */
@Module({
  imports: [AuditModule, UsersModule],
  controllers: [ConsentsController, AdministeredConsentsController],
  providers: [Consents],
})
export class ConsentsModule {}
