import { Module } from '@stack/backend'
import { LimitsModule } from '../limits/module.ts'
import { ProvidersModule } from '../providers/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { MailAdmission } from './admission.ts'
import { Catalogue } from './catalogue.ts'
import { Delivery } from './delivery.ts'
import { Notices } from './notices.ts'
import { Outbox } from './outbox.ts'
import { PendingActions } from './pending.ts'
import { Preparation } from './preparation.ts'
import { Senders } from './senders/index.ts'
import { OneTimeTokens } from './tokens.ts'

/** Messages: queued with what causes them, sent after the commit, tried again until they are taken. */
@Module({
  imports: [LimitsModule, ProvidersModule, SettingsModule, UsersModule],
  providers: [Catalogue, Delivery, MailAdmission, Notices, OneTimeTokens, Outbox, PendingActions, Preparation, Senders],
})
export class MailModule {}
