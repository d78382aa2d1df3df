import { Module } from '@stack/backend'
import { DeliveriesController } from './routes.ts'
import { Deliveries } from './rows.ts'

/** The recorded deliveries of the project's webhooks. */
@Module({ controllers: [DeliveriesController], providers: [Deliveries] })
export class DeliveriesModule {}
