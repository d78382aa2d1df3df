import { Module, On, standardWebhooks, Webhook } from '@stack/backend'

@Webhook({
  name: 'warehouse',
  secret: { env: 'WAREHOUSE_SECRET' },
  signature: standardWebhooks,
})
export class WarehouseWebhook {
  @On('parcel.sent')
  sent(): void {}
}

@Module({ providers: [WarehouseWebhook] })
export class AppModule {}
