/** The senders of the webhook tests, checked against the providers' verifiers and published answers. */
import { verify } from 'node:crypto'
import { sign as signGithub } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js'
import { describe, expect, it } from 'vitest'
import { type Claim, encode, forge, form, prefixed, type Scheme, standard, versioned } from './schemes.ts'
import { deliveryId, nowSeconds, senderNames, senders } from './senders.ts'
import { type Delivery, hostileVariants, legitimateVariants, unreadable } from './variants/index.ts'

const url = 'http://shop.example:8787/webhooks/x'
const verified = senderNames.filter((name) => senders[name].verify)

/** @returns the headers as a server passes them on: those of one name joined. */
function received({ headers }: Delivery): Record<string, string> {
  const joined = new Headers()
  for (const [name, value] of headers) joined.append(name, value)
  return Object.fromEntries(joined)
}

describe('what a sender signs, its provider’s verifier takes', () => {
  it('all but slack, zoom, meta and the house scheme have one', () => {
    const others = senderNames.filter((name) => !verified.includes(name))
    expect(others).toEqual(['chat', 'slack', 'realtime', 'zoom', 'meta'])
  })

  it.each(verified)('%s: by the SDK, and by node:crypto in the same scheme', async (name) => {
    const sender = senders[name]
    const body = sender.body(sender.event)
    const headers = await sender.sign(body, { url })
    expect(await sender.verify!({ headers, body, url })).toBe(true)
    expect(await sender.verify!({ headers, body: body.slice(0, -2), url })).toBe(false)
    expect(await sender.verify!({ headers, body, url }, sender.otherSecret)).toBe(false)
    const others = await sender.sign(body, { url, secret: sender.otherSecret })
    expect(await sender.verify!({ headers: others, body, url })).toBe(false)
    const claim = { body, timestamp: String(nowSeconds()), id: deliveryId, url, secret: sender.secret }
    expect(await sender.verify!({ headers: forge(sender.scheme, claim), body, url })).toBe(true)
  })

  /** The SDKs decode a body before they hash it, and parse it before they answer. */
  const notText = unreadable
  /** Paddle's SDK allows 5 s and takes the last of several signatures. Linear's SDK allows 60 s. */
  const stricter: Record<string, RegExp> = {
    paddle: /seconds old$|^several h1, the right one first$/,
    linear: /^-?290000 milliseconds old/,
  }

  it.each(verified)('%s: every legitimate variant that is a text', async (name) => {
    const sender = senders[name]
    const refused: string[] = []
    for (const [what, delivery] of await legitimateVariants(sender, url)) {
      const signed = { headers: received(delivery), body: delivery.body, url: url + (delivery.query ?? '') }
      if (!(await sender.verify!(signed))) refused.push(what)
    }
    const isStricter = (what: string) => notText.includes(what) || (stricter[name]?.test(what) ?? false)
    expect(refused.filter((what) => !isStricter(what) && !what.startsWith('under the name'))).toEqual([])
  })

  // The SDKs of the other providers accept more than a hundred of the hostile deliveries.
  it.each(['codehost', 'github'] as const)('%s: no hostile variant of a text', async (name) => {
    const sender = senders[name]
    const taken: string[] = []
    for (const [what, delivery] of await hostileVariants(sender, url)) {
      if (await sender.verify!({ headers: received(delivery), body: delivery.body, url })) taken.push(what)
    }
    expect(taken).toEqual(['FF where U+FFFD was signed'])
  })
})

describe('published known answers', () => {
  const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))

  function signed(scheme: Scheme, claim: Partial<Omit<Claim, 'body'>> & { body: string; secret: string }) {
    const whole = { timestamp: '', id: '', url: '', ...claim, body: bytesOf(claim.body) }
    return encode(scheme.sign(scheme.covered(whole), whole.secret), scheme.encoding)
  }

  it('github: the documentation’s', async () => {
    const [secret, body] = ["It's a Secret to Everybody", 'Hello, World!']
    const signature = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
    expect(signed(prefixed('x'), { secret, body })).toBe(signature)
    expect(await signGithub(secret, body)).toBe(`sha256=${signature}`)
  })

  it('slack: the documentation’s', () => {
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
      '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=' +
      '&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
      '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
    const secret = '8f742231b10e8888abcd99yyyzzz85a5'
    expect(signed(versioned('x', 'y'), { secret, body, timestamp: '1531420618' })).toBe(
      'a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    )
  })

  it.each<[string, string, string, Record<string, string | string[]>, string]>([
    [
      'a form',
      '',
      'CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212',
      {
        CallSid: 'CA1234567890ABCDE',
        Caller: '+14158675309',
        Digits: '1234',
        From: '+14158675309',
        To: '+18005551212',
      },
      'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
    ],
    [
      'repeated fields',
      '',
      'Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234',
      { Sid: 'CA123', SidAccount: 'AC123', Digits: ['5678', '1234', '1234'] },
      'IK+Dwps556ElfBT0I3Rgjkr1wJU=',
    ],
    [
      'a body by its hash',
      '&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620',
      '{"property": "value", "boolean": true}',
      {},
      'a9nBmqA0ju/hNViExpshrM61xv4=',
    ],
  ])('twilio: its libraries’, %s', (_what, query, body, fields, signature) => {
    const configured = `https://mycompany.com/myapp.php?foo=1&bar=2${query}`
    expect(signed(form('x'), { secret: '12345', body, url: configured })).toBe(signature)
    expect(getExpectedTwilioSignature('12345', configured, fields)).toBe(signature)
  })

  it('standard webhooks: the specification’s', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const [id, timestamp, body] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', '1614265330', '{"test": 2432232314}']
    const signature = 'g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    expect(signed(standard, { secret, id, timestamp, body })).toBe(signature)
    expect(new Webhook(secret).sign(id, new Date(1_614_265_330_000), body)).toBe(`v1,${signature}`)
  })

  it('sendgrid: its library’s, whose last line ends in CRLF', () => {
    const key =
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g=='
    const signature = 'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM='
    const event = {
      email: 'hello@world.com',
      event: 'dropped',
      reason: 'Bounced Address',
      sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
      sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
      'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
      timestamp: 1600112492,
    }
    const covered = (end: string) => {
      const body = bytesOf(JSON.stringify([event]) + end)
      return senders.sendgrid.scheme.covered({ body, timestamp: '1600112502', id: '', url: '', secret: key })
    }
    const publicKey = { key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' } as const
    expect(verify('sha256', covered('\r\n'), publicKey, Buffer.from(signature, 'base64'))).toBe(true)
    expect(verify('sha256', covered('\n'), publicKey, Buffer.from(signature, 'base64'))).toBe(false)
  })
})
