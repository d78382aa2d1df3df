import { Module } from '@stack/backend'
import { LimitsModule } from '../limits/module.ts'
import { MailModule } from '../mail/module.ts'
import { ProvidersModule } from '../providers/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { UsersModule } from '../users/module.ts'
import { MessagesController } from './routes.ts'

/** Messages of the project's own templates, which its backend sends. */
@Module({
  imports: [LimitsModule, MailModule, ProvidersModule, SettingsModule, UsersModule],
  controllers: [MessagesController],
})
export class MessagesModule {}
