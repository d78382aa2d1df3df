import { Module } from '@stack/backend'
import { Credentials } from './credentials.ts'
import { PhoneSettingsReader } from './phone-settings.ts'
import { ProviderStates } from './rows.ts'

/** The providers that people sign in with, and the secrets of the stack at them. */
@Module({ providers: [Credentials, PhoneSettingsReader, ProviderStates] })
export class ProvidersModule {}
