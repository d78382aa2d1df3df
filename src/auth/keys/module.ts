import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { KeySetController, KeysController } from './routes.ts'
import { SigningKeys } from './rows.ts'

/** The keys that sign access tokens, and the key set that verifiers fetch. */
@Module({ imports: [AuditModule], controllers: [KeySetController, KeysController], providers: [SigningKeys] })
export class KeysModule {}
