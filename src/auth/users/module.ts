import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { UsersController } from './routes.ts'
import { Users } from './rows.ts'

/** The users of the environment, and the caller's own account. */
@Module({ imports: [AuditModule], controllers: [UsersController], providers: [Users] })
export class UsersModule {}
