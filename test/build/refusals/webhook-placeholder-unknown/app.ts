import { Module, On, Webhook } from '@stack/backend'

@Webhook({
  name: 'warehouse',
  secret: { env: 'WAREHOUSE_SECRET' },
  signature: { header: 'x-signature', algo: 'hmac-sha256', encoding: 'hex', signs: '{host}.{body}' },
})
export class WarehouseWebhook {
  @On('parcel.sent')
  sent(): void {}
}

@Module({ providers: [WarehouseWebhook] })
export class AppModule {}
