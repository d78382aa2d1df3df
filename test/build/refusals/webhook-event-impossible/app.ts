import { Module, On, Webhook } from '@stack/backend'

@Webhook({ name: 'mail', provider: 'sendgrid', secret: { env: 'MAIL_KEY' } })
export class MailWebhook {
  @On('delivered')
  arrived(): void {}
}

@Module({ providers: [MailWebhook] })
export class AppModule {}
