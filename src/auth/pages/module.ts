import { Module } from '@stack/backend'
import { EmailsModule } from '../emails/module.ts'
import { MailModule } from '../mail/module.ts'
import { PasskeysModule } from '../passkeys/module.ts'
import { PasswordsModule } from '../passwords/module.ts'
import { SettingsModule } from '../settings/module.ts'
import { EmailPagesController } from './email-routes.ts'
import { PasskeyPagesController } from './passkey-routes.ts'
import { PasswordPagesController } from './password-routes.ts'
import { LostPagesController } from './routes.ts'
import { Pages } from './show.ts'

/** The pages that a person sees who opens a link of a mail. They work without script, except that of passkeys. */
@Module({
  imports: [EmailsModule, MailModule, PasskeysModule, PasswordsModule, SettingsModule],
  controllers: [EmailPagesController, LostPagesController, PasskeyPagesController, PasswordPagesController],
  providers: [Pages],
})
export class PagesModule {}
