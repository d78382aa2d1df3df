import { Module } from '@stack/backend'
import { Audit } from './rows.ts'

/** What happened to accounts and settings, and who did it. */
@Module({ providers: [Audit] })
export class AuditModule {}
