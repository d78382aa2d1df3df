import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { ProviderChanges } from './changes.ts'
import { ProviderCredentialsController } from './credential-routes.ts'
import { Credentials } from './credentials.ts'
import { PhoneSettingsController } from './phone-routes.ts'
import { PhoneSettingsReader } from './phone-settings.ts'
import { ProvidersController } from './routes.ts'
import { ProviderStates, Providers } from './rows.ts'

/** The providers that people sign in with, and the secrets of the stack at them. */
@Module({
  imports: [AuditModule],
  controllers: [PhoneSettingsController, ProviderCredentialsController, ProvidersController],
  providers: [Credentials, PhoneSettingsReader, ProviderChanges, Providers, ProviderStates],
})
export class ProvidersModule {}
