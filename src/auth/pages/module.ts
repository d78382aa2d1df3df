import { Module } from '@stack/backend'
import { EmailsModule } from '../emails/module.ts'
import { MailModule } from '../mail/module.ts'
import { PasswordsModule } from '../passwords/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { EmailPagesController } from './email-routes.ts'
import { PasswordPagesController } from './password-routes.ts'
import { LostPagesController } from './routes.ts'
import { Pages } from './show.ts'

/** The pages that a person sees who opens a link of a mail. They work without script, and beside the JSON routes. */
@Module({
  imports: [EmailsModule, MailModule, PasswordsModule, SettingsModule],
  controllers: [EmailPagesController, LostPagesController, PasswordPagesController],
  providers: [Pages],
})
export class PagesModule {}
