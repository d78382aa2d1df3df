/** The values that `provider` of `@Webhook` accepts: what each means stands in `runtime/webhooks/presets.ts`. */
export const webhookProviders = ['payments', 'codehost', 'stripe', 'github'] as const

export type WebhookProvider = (typeof webhookProviders)[number]
