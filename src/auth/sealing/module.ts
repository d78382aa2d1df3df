import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { SealingController } from './routes.ts'
import { Resealing } from './rows.ts'

/** The rotation of the key that seals values at rest. */
@Module({ imports: [AuditModule], controllers: [SealingController], providers: [Resealing] })
export class SealingModule {}
