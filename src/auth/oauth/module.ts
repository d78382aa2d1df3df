import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { IdentitiesModule } from '../identities/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { MailModule } from '../mail/module.ts'
import { MfaModule } from '../mfa/module.ts'
import { PagesModule } from '../pages/module.ts'
import { ProvidersModule } from '../providers/module.ts'
import { SessionsModule } from '../sessions/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { Arrivals } from './arrivals.ts'
import { Beginning } from './beginning.ts'
import { LinkController } from './link-routes.ts'
import { OAuthController } from './routes.ts'
import { Flows, HandoffCodes, ProviderClients, UsedIdTokens } from './rows.ts'

/** Sign-in with Google, Apple, Microsoft and GitHub (OAuth 2.0, OpenID Connect). */
@Module({
  imports: [
    AuditModule,
    IdentitiesModule,
    LimitsModule,
    MailModule,
    MfaModule,
    PagesModule,
    ProvidersModule,
    SessionsModule,
    SettingsModule,
    UsersModule,
  ],
  controllers: [LinkController, OAuthController],
  providers: [Arrivals, Beginning, Flows, HandoffCodes, ProviderClients, UsedIdTokens],
})
export class OAuthModule {}
