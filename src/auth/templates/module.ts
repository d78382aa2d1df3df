import { Module } from '@stack/backend'
import { AuditModule } from '../audit/module.ts'
import { LimitsModule } from '../limits/module.ts'
import { MailModule } from '../mail/module.ts'
import { ProvidersModule } from '../providers/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { TemplatesController } from './routes.ts'
import { TestMessages } from './test-messages.ts'

/** The templates of messages over the management surface: read, changed, tried out. */
@Module({
  imports: [AuditModule, LimitsModule, MailModule, ProvidersModule, SettingsModule],
  controllers: [TemplatesController],
  providers: [TestMessages],
})
export class TemplatesModule {}
