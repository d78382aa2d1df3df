import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { SettingsController } from './routes.ts'
import { SettingsRows } from './rows.ts'

/** The settings document of the environment. */
@Module({ imports: [AuditModule], controllers: [SettingsController], providers: [SettingsRows] })
export class SettingsModule {}
