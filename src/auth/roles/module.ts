import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { UsersModule } from '../users/module.ts'
import { RolesController } from './routes.ts'
import { Roles } from './rows.ts'

/** Application roles: declared, assigned to users and revoked. */
@Module({ imports: [AuditModule, UsersModule], controllers: [RolesController], providers: [Roles] })
export class RolesModule {}
