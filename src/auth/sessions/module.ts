import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { KeysModule } from '../keys/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { MailModule } from '../mail/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { AdministeredSessionsController } from './administration.ts'
import { LocalTokensController } from './local.ts'
import { SessionRecords } from './records.ts'
import { RefreshController, SessionsController } from './routes.ts'
import { Sessions } from './rows.ts'
import { SignIn } from './sign-in.ts'
import { Tokens } from './tokens.ts'

/** Login sessions, and the access and refresh tokens that belong to them. */
@Module({
  imports: [AuditModule, KeysModule, LimitsModule, MailModule, SettingsModule, UsersModule],
  controllers: [RefreshController, SessionsController, AdministeredSessionsController, LocalTokensController],
  providers: [SessionRecords, Sessions, SignIn, Tokens],
})
export class SessionsModule {}
