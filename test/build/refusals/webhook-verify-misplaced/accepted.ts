import { Module, On, Webhook } from '@stack/backend'

@Webhook({
  name: 'pages',
  provider: 'meta',
  secret: { env: 'PAGES_SECRET', verify: 'PAGES_TOKEN' },
})
export class PagesWebhook {
  @On('page.feed')
  changed(): void {}
}

@Module({ providers: [PagesWebhook] })
export class AppModule {}
