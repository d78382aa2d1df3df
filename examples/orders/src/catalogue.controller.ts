import { Controller, Database, Get, OptionalUser, type UserT } from '@stack/backend'
import { Prices } from './prices.ts'

/** Public routes. A signed-in caller is greeted. */
@Controller('/catalogue', { auth: false })
export class CatalogueController {
  constructor(private readonly prices: Prices) {}

  @Get()
  async show(@OptionalUser() user: UserT | null) {
    const [release] = await Database.sql<{ tag: string }>`select tag from releases order by published_at desc limit 1`
    return {
      greeting: user ? `Welcome back, ${user.email ?? user.id}` : 'Welcome',
      products: await this.prices.all(),
      release: release?.tag ?? null,
    }
  }
}
