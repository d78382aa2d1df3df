/** A webhook for each sender, named after it. Each writes the event and the payload that it received. */
import { Database, On, standardWebhooks, Webhook, type WebhookMeta } from '@stack/backend'

async function keep(webhook: string, payload: unknown, { event, requestId }: WebhookMeta): Promise<void> {
  await Database.$asService().sql`
    insert into received (webhook, request_id, event, payload)
    values (${webhook}, ${requestId}, ${event}, ${JSON.stringify(payload)})`
}

/** The answer of a handler. Only interactive senders receive it. */
const replyTo = (webhook: string) => ({ reply: `to ${webhook}` })

@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' } })
export class PaymentsReceiver {
  @On('replies')
  replies() {
    return replyTo('payments')
  }

  @On('payment.succeeded')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('payments', payload, meta)
  }
}

@Webhook({ name: 'stripe', provider: 'stripe', secret: { env: 'STRIPE_SECRET' } })
export class StripeReceiver {
  @On('invoice.paid')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('stripe', payload, meta)
  }
}

@Webhook({ name: 'codehost', provider: 'codehost', secret: { env: 'CODEHOST_SECRET' } })
export class CodehostReceiver {
  @On('issues.opened')
  @On('push')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('codehost', payload, meta)
  }
}

@Webhook({ name: 'github', provider: 'github', secret: { env: 'GITHUB_SECRET' } })
export class GithubReceiver {
  @On('issues.opened')
  @On('push')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('github', payload, meta)
  }
}

@Webhook({ name: 'chat', provider: 'chat', secret: { env: 'CHAT_SECRET' } })
export class ChatReceiver {
  @On('replies')
  replies() {
    return replyTo('chat')
  }

  @On('event_callback')
  @On('app_mention')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('chat', payload, meta)
  }
}

@Webhook({ name: 'slack', provider: 'slack', secret: { env: 'SLACK_SECRET' } })
export class SlackReceiver {
  @On('/replies')
  replies() {
    return replyTo('slack')
  }

  @On('app_mention')
  @On('block_actions')
  @On('/weather')
  @On('app_rate_limited')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('slack', payload, meta)
  }
}

@Webhook({ name: 'sms', provider: 'sms', secret: { env: 'SMS_SECRET' } })
export class SmsReceiver {
  @On('onMessageAdded')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('sms', payload, meta)
  }
}

@Webhook({ name: 'twilio', provider: 'twilio', secret: { env: 'TWILIO_SECRET' } })
export class TwilioReceiver {
  @On('replies')
  replies() {
    return replyTo('twilio')
  }

  @On('com.twilio.messaging.message.delivered')
  @On('event_batch')
  @On('delivered')
  @On('received')
  @On('ringing')
  @On('onMessageAdded')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('twilio', payload, meta)
  }
}

@Webhook({ name: 'realtime', provider: 'realtime', secret: { env: 'REALTIME_SECRET' } })
export class RealtimeReceiver {
  @On('room_started')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('realtime', payload, meta)
  }
}

@Webhook({ name: 'livekit', provider: 'livekit', secret: { env: 'LIVEKIT_SECRET' } })
export class LivekitReceiver {
  @On('room_started')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('livekit', payload, meta)
  }
}

@Webhook({ name: 'chatbot', provider: 'chatbot', secret: { env: 'CHATBOT_SECRET' } })
export class ChatbotReceiver {
  @On('type_4')
  replies() {
    return replyTo('chatbot')
  }

  @On('INTERACTION_CREATE')
  @On('PING')
  @On('type_3')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('chatbot', payload, meta)
  }
}

@Webhook({ name: 'discord', provider: 'discord', secret: { env: 'DISCORD_SECRET' } })
export class DiscordReceiver {
  @On('type_4')
  replies() {
    return replyTo('discord')
  }

  @On('INTERACTION_CREATE')
  @On('type_3')
  @On('APPLICATION_AUTHORIZED')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('discord', payload, meta)
  }
}

@Webhook({ name: 'emailservice', provider: 'emailservice', secret: { env: 'EMAILSERVICE_SECRET' } })
export class EmailserviceReceiver {
  @On('event_batch')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('emailservice', payload, meta)
  }
}

@Webhook({ name: 'sendgrid', provider: 'sendgrid', secret: { env: 'SENDGRID_SECRET' } })
export class SendgridReceiver {
  @On('event_batch')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('sendgrid', payload, meta)
  }
}

@Webhook({ name: 'standard', signature: standardWebhooks, secret: { env: 'STANDARD_SECRET' } })
export class StandardReceiver {
  @On('invoice.paid')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('standard', payload, meta)
  }
}

@Webhook({ name: 'shopify', provider: 'shopify', secret: { env: 'SHOPIFY_SECRET' } })
export class ShopifyReceiver {
  @On('orders/create')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('shopify', payload, meta)
  }
}

@Webhook({ name: 'linear', provider: 'linear', secret: { env: 'LINEAR_SECRET' } })
export class LinearReceiver {
  @On('Issue.create')
  @On('Issue.remove')
  @On('AppUserNotification')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('linear', payload, meta)
  }
}

@Webhook({ name: 'paddle', provider: 'paddle', secret: { env: 'PADDLE_SECRET' } })
export class PaddleReceiver {
  @On('replies')
  replies() {
    return replyTo('paddle')
  }

  @On('transaction.completed')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('paddle', payload, meta)
  }
}

@Webhook({ name: 'zoom', provider: 'zoom', secret: { env: 'ZOOM_SECRET' } })
export class ZoomReceiver {
  @On('replies')
  replies({ payload }: { payload: { text?: true } }) {
    return payload.text ? 'a text' : { reply: 'to zoom' }
  }

  @On('meeting.started')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('zoom', payload, meta)
  }
}

/** The vault has no entry for the token of its subscription. */
@Webhook({ name: 'meta-closed', provider: 'meta', secret: { env: 'META_SECRET', verify: 'META_CLOSED_TOKEN' } })
export class MetaClosedReceiver {
  @On('page.feed')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('meta-closed', payload, meta)
  }
}

@Webhook({ name: 'meta', provider: 'meta', secret: { env: 'META_SECRET', verify: 'META_TOKEN' } })
export class MetaReceiver {
  @On('page.replies')
  replies() {
    return replyTo('meta')
  }

  @On('page.feed')
  @On('page.messaging')
  @On('event_batch')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('meta', payload, meta)
  }
}

@Webhook({ name: 'gitlab', provider: 'gitlab', secret: { env: 'GITLAB_SECRET' } })
export class GitlabReceiver {
  @On('issue.open')
  @On('push')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('gitlab', payload, meta)
  }
}

@Webhook({ name: 'svix', signature: standardWebhooks, secret: { env: 'SVIX_SECRET' } })
export class SvixReceiver {
  @On('invoice.paid')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('svix', payload, meta)
  }
}

@Webhook({ name: 'gitlab-token', provider: 'gitlab', secret: { env: 'GITLAB_TOKEN' } })
export class GitlabTokenReceiver {
  @On('push')
  receive(payload: unknown, meta: WebhookMeta) {
    return keep('gitlab-token', payload, meta)
  }
}
