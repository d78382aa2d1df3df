import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { ClaimsKeys } from './claims.ts'
import { KeySetController, KeysController } from './routes.ts'
import { SigningKeys } from './rows.ts'
import { ServiceRoleKeys } from './service-role.ts'

/** The keys of the environment that can be rotated, and the key set that verifiers fetch. `sealing/` seals the values anew. */
@Module({
  imports: [AuditModule],
  controllers: [KeySetController, KeysController],
  providers: [ClaimsKeys, ServiceRoleKeys, SigningKeys],
})
export class KeysModule {}
