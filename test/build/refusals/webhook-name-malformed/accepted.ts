import { Module, On, Webhook } from '@stack/backend'

@Webhook({ name: 'shop-releases', provider: 'codehost', secret: { env: 'CODEHOST_SECRET' } })
export class ReleasesWebhook {
  @On('release.published')
  published(): void {}
}

@Module({ providers: [ReleasesWebhook] })
export class AppModule {}
