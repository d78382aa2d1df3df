import { Module } from '@stack/backend'
import { NotesController } from './notes.controller.ts'
import { PaymentsWebhook } from './payments.webhook.ts'

/** The root module. A class takes part when a module lists it. */
@Module({ controllers: [NotesController], providers: [PaymentsWebhook] })
export class AppModule {}
