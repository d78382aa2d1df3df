/** The auth module: an ordinary project, compiled by the same build. This file is the list of its features. */
import { Module } from '@stack/backend'
import { AccountsModule } from './accounts/module.ts'
import { AnonymousModule } from './anonymous/module.ts'
import { AuditModule } from './audit/module.ts'
import { ConsentsModule } from './consents/module.ts'
import { DeliveriesModule } from './deliveries/module.ts'
import { DevicesModule } from './devices/module.ts'
import { DiscoveryModule } from './discovery/module.ts'
import { EmailsModule } from './emails/module.ts'
import { HealthModule } from './health/module.ts'
import { IdentitiesModule } from './identities/module.ts'
import { KeysModule } from './keys/module.ts'
import { LimitsModule } from './limits/module.ts'
import { LoginsModule } from './logins/module.ts'
import { MailModule } from './mail/module.ts'
import { MessagesModule } from './messages/module.ts'
import { MfaModule } from './mfa/module.ts'
import { OAuthModule } from './oauth/module.ts'
import { OperatorsModule } from './operators/module.ts'
import { PagesModule } from './pages/module.ts'
import { PasskeysModule } from './passkeys/module.ts'
import { PasswordsModule } from './passwords/module.ts'
import { PhonesModule } from './phones/module.ts'
import { ProvidersModule } from './providers/module.ts'
import { RolesModule } from './roles/module.ts'
import { SealingModule } from './sealing/module.ts'
import { SessionsModule } from './sessions/module.ts'
import { SettingsModule } from './settings/module.ts'
import { TemplatesModule } from './templates/module.ts'
import { UsersModule } from './users/module.ts'
import { VaultModule } from './vault/module.ts'
import { WebauthnModule } from './webauthn/module.ts'

@Module({
  imports: [
    AccountsModule,
    AnonymousModule,
    AuditModule,
    ConsentsModule,
    DeliveriesModule,
    DevicesModule,
    DiscoveryModule,
    EmailsModule,
    HealthModule,
    IdentitiesModule,
    KeysModule,
    LimitsModule,
    LoginsModule,
    MailModule,
    MessagesModule,
    MfaModule,
    OAuthModule,
    OperatorsModule,
    PagesModule,
    PasskeysModule,
    PasswordsModule,
    PhonesModule,
    ProvidersModule,
    RolesModule,
    SealingModule,
    SessionsModule,
    SettingsModule,
    TemplatesModule,
    UsersModule,
    VaultModule,
    WebauthnModule,
  ],
})
export class AuthModule {}
