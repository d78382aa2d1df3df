import { Module, On, Webhook } from '@stack/backend'

@Webhook({ name: 'shop', provider: 'shopify', secret: { env: 'SHOP_SECRET' } })
export class ShopWebhook {
  @On('orders/create')
  async created(): Promise<{ accepted: boolean }> {
    return { accepted: true }
  }

  @On('orders/paid')
  paid(order: { total: number }) {
    if (order.total > 0) return `paid ${order.total}`
  }
}

@Module({ providers: [ShopWebhook] })
export class AppModule {}
