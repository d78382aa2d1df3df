import { Module, On, Webhook } from '@stack/backend'

type Answer = Response | undefined

@Webhook({ name: 'shop', provider: 'shopify', secret: { env: 'SHOP_SECRET' } })
export class ShopWebhook {
  @On('orders/create')
  async created(): Promise<Answer> {
    return new Response(null, { status: 202 })
  }

  @On('orders/paid')
  paid(order: { total: number }) {
    const words = [order.total].map((total) => {
      return `paid ${total}`
    })
    if (words.length > 1) throw new Error(words.join())
  }
}

@Webhook({ name: 'slack', provider: 'slack', secret: { env: 'SLACK_SECRET' } })
export class SlackWebhook {
  @On('/weather')
  weather() {
    return { text: 'sunny' }
  }
}

@Module({ providers: [ShopWebhook, SlackWebhook] })
export class AppModule {}
