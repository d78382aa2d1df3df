import { Module } from '@stack/backend'
import { BasketController } from './basket.controller.ts'
import { CatalogueController } from './catalogue.controller.ts'
import { CodehostWebhook } from './codehost.webhook.ts'
import { OrdersController } from './orders.controller.ts'
import { Orders } from './orders.ts'
import { PaymentsWebhook } from './payments.webhook.ts'
import { Prices } from './prices.ts'
import { StaffController } from './staff.controller.ts'

@Module({
  controllers: [BasketController, CatalogueController, OrdersController, StaffController],
  providers: [Orders, Prices, PaymentsWebhook, CodehostWebhook],
})
export class AppModule {}
