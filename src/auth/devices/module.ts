import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { SessionsModule } from '../sessions/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { AdministeredDevicesController } from './administration.ts'
import { Enrolment } from './enrolment.ts'
import { Revocations } from './revocations.ts'
import { DevicesController } from './routes.ts'
import { Devices } from './rows.ts'

/** Devices whose keys were attested: enrolled, listed and revoked. The runtime verifies what they sign. */
@Module({
  imports: [AuditModule, LimitsModule, SessionsModule, SettingsModule, UsersModule],
  controllers: [AdministeredDevicesController, DevicesController],
  providers: [Devices, Enrolment, Revocations],
})
export class DevicesModule {}
