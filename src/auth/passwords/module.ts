import { Module } from '@stack/backend'
import { SessionsModule } from '../sessions/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { PasswordsController } from './routes.ts'

/** Sign-up and sign-in with an email address and a password. */
@Module({ imports: [SessionsModule, SettingsModule, UsersModule], controllers: [PasswordsController] })
export class PasswordsModule {}
