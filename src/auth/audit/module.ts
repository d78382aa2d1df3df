import { Module } from '@stack/backend'
import { AuditController } from './routes.ts'
import { Audit } from './rows.ts'
import { AuditTrail } from './trail.ts'

/** What happened to accounts and settings, and who did it. */
@Module({ controllers: [AuditController], providers: [Audit, AuditTrail] })
export class AuditModule {}
