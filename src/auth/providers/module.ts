import { Module } from '@stack/backend'
import { Credentials } from './credentials.ts'

/** The providers that people sign in with, and the secrets of the stack at them. */
@Module({ providers: [Credentials] })
export class ProvidersModule {}
