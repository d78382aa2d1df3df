import { Module } from '@stack/backend'
import {
  ChatbotReceiver,
  ChatReceiver,
  CodehostReceiver,
  DiscordReceiver,
  EmailserviceReceiver,
  GithubReceiver,
  LivekitReceiver,
  PaymentsReceiver,
  RealtimeReceiver,
  SendgridReceiver,
  SlackReceiver,
  SmsReceiver,
  StandardReceiver,
  StripeReceiver,
  TwilioReceiver,
} from './receivers.webhook.ts'

@Module({
  providers: [
    PaymentsReceiver,
    StripeReceiver,
    CodehostReceiver,
    GithubReceiver,
    ChatReceiver,
    SlackReceiver,
    SmsReceiver,
    TwilioReceiver,
    RealtimeReceiver,
    LivekitReceiver,
    ChatbotReceiver,
    DiscordReceiver,
    EmailserviceReceiver,
    SendgridReceiver,
    StandardReceiver,
  ],
})
export class AppModule {}
