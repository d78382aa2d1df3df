import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { Assertions } from './assertions.ts'
import { Ceremonies } from './ceremonies.ts'
import { Credentials, WebauthnChallenges } from './rows.ts'

/** Web Authentication: challenges, the credentials of accounts, and what an authenticator proves. */
@Module({
  imports: [AuditModule, LimitsModule, SettingsModule],
  providers: [Assertions, Ceremonies, Credentials, WebauthnChallenges],
})
export class WebauthnModule {}
