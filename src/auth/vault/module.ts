import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { KeysModule } from '../keys/module.ts'
import { VaultMirror } from './mirror.ts'
import { VaultController } from './routes.ts'
import { VaultRows } from './rows.ts'

/** The secrets of the environment. */
@Module({ imports: [AuditModule, KeysModule], controllers: [VaultController], providers: [VaultMirror, VaultRows] })
export class VaultModule {}
