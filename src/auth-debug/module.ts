/**
 * The auth module with debug devices: for `stack start`, and for environments that `stack/project.json` marks with `debug_devices`. No
 * other bundle contains this folder.
 */
import { Module } from '@stack/backend'
import { AuditModule } from '../auth/audit/module.ts'
import { DevicesModule } from '../auth/devices/module.ts'
import { AuthModule } from '../auth/module.ts'
import { DebugDevicesController, DebugTokensController } from './routes.ts'
import { DebugTokens } from './tokens.ts'

@Module({
  imports: [AuditModule, AuthModule, DevicesModule],
  controllers: [DebugDevicesController, DebugTokensController],
  providers: [DebugTokens],
})
export class DebugAuthModule {}
