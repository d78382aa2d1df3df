import { Module } from '@stack/backend'
import { SettingsController } from './routes.ts'
import { SettingsRows } from './rows.ts'

/** The settings document of the environment. */
@Module({ controllers: [SettingsController], providers: [SettingsRows] })
export class SettingsModule {}
