/** The same with the SDKs of the providers, as their documentation shows for Workers. */
import { verify } from '@octokit/webhooks-methods'
import Stripe from 'stripe'
import { type Env, serve } from './serve.ts'

const client = new Stripe('sk_test_unused')
const cryptography = Stripe.createSubtleCryptoProvider()

async function stripe(request: Request, env: Env) {
  const header = request.headers.get('stripe-signature') ?? ''
  const body = await request.text()
  const verified = client.webhooks.constructEventAsync(body, header, env.STRIPE_SECRET, undefined, cryptography)
  const payload = await verified.catch(() => undefined)
  return payload && { event: payload.type, payload }
}

async function github(request: Request, env: Env) {
  const body = await request.text()
  const isGenuine = await verify(env.GITHUB_SECRET, body, request.headers.get('x-hub-signature-256') ?? '')
  if (!isGenuine) return undefined
  const payload = JSON.parse(body)
  return { event: `${request.headers.get('x-github-event')}.${payload.action}`, payload }
}

export default serve(stripe, github)
