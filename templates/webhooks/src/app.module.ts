import { Module } from '@stack/backend'
import { PaymentsWebhook } from './payments.webhook.ts'

/** The root module. A class takes part when a module lists it. */
@Module({ providers: [PaymentsWebhook] })
export class AppModule {}
