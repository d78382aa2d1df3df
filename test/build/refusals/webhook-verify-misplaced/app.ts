import { Module, On, Webhook } from '@stack/backend'

@Webhook({
  name: 'pages',
  provider: 'github',
  secret: { env: 'PAGES_SECRET', verify: 'PAGES_TOKEN' },
})
export class PagesWebhook {
  @On('push')
  pushed(): void {}
}

@Module({ providers: [PagesWebhook] })
export class AppModule {}
