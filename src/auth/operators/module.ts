import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { UsersModule } from '../users/module.ts'
import { OperatorsController } from './routes.ts'
import { Operators } from './rows.ts'

/** Users who may administer the stack with their own access token. */
@Module({ imports: [AuditModule, UsersModule], controllers: [OperatorsController], providers: [Operators] })
export class OperatorsModule {}
