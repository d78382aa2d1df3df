import { Module } from '@stack/backend'
import { SettingsModule } from '../settings/module.ts'
import { Limits } from './rows.ts'
import { SignUps } from './sign-ups.ts'

/** How often may be tried: counted in Postgres, so that all isolates count together. */
@Module({ imports: [SettingsModule], providers: [Limits, SignUps] })
export class LimitsModule {}
