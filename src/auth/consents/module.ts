import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { ConsentsController } from './routes.ts'
import { Consents } from './rows.ts'

/** What users have agreed to. */
@Module({ imports: [AuditModule], controllers: [ConsentsController], providers: [Consents] })
export class ConsentsModule {}
