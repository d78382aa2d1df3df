/** The names of secrets obey one rule in the vault, on the command line and in a webhook's `secret` (contract 7.5, 9.9). */
import { describe, expect, it } from 'vitest'
import { secretNameFault } from '../../src/wire/secrets.ts'
import { buildProject, rendered, temporaryProject } from '../support/project.ts'

const values = [
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'sk_live_canary',
  'rk_test_canary',
  'ghp_canary',
  'github_pat_canary',
  'xoxb_canary',
  'AKIAIOSFODNN7EXAMPLE',
  'https://hooks.example/canary',
  'K7gNU3sdo0OL0wNhqoVWhr3g6s1xYv72ol1pe1Unols',
  'K7gNU3sdo_OL0wNhqoVWhr_g6s1xYv72_l1pe1Uno',
  'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw==',
  'f81d4fae7dec11d0a76500a0c91e6bf6f81d4fae',
  'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  '-----BEGIN PRIVATE KEY-----',
]

const names = [
  'PAYMENTS_SECRET',
  'stripeWebhookSecret',
  'OAUTH2_CLIENT_SECRET',
  'SK_LIVE_KEY',
  'AWS_S3_BUCKET_2_SECRET_ACCESS_KEY_FOR_BACKUPS',
  'GOOGLE_APPLICATION_CREDENTIALS_JSON_BASE64',
  'A'.repeat(128),
]

describe.each([
  ['env', (name: string) => `secret: { env: '${name}' }`],
  ['previous', (name: string) => `secret: { env: 'NOW', previous: '${name}' }`],
])('as `%s` of a webhook', (_key, secret) => {
  const build = async (name: string) => {
    const root = temporaryProject({
      'src/app.module.ts': `import { Module, On, Webhook } from '@stack/backend'

@Webhook({ name: 'billing', provider: 'stripe', ${secret(name)} })
export class Billing {
  @On('invoice.paid')
  paid(): void {}
}

@Module({ providers: [Billing] })
export class AppModule {}
`,
    })
    const result = await buildProject(root)
    return { slugs: result.refusals.map(({ slug }) => slug), text: rendered(root, result) }
  }

  it.each(values)('what looks like a value is refused, and not printed: %.40s', async (value) => {
    const reason = secretNameFault(value)
    expect(reason).toBeTypeOf('string')
    expect(reason).not.toContain(value)
    const { slugs, text } = await build(value)
    expect(slugs).toEqual(['webhook-secret-inline'])
    expect(text).not.toContain(value)
  })

  it.each(names)('a name is accepted: %.40s', async (name) => {
    expect(secretNameFault(name)).toBeUndefined()
    expect((await build(name)).slugs).toEqual([])
  })

  it.each(['SEALING_KEY', 'STACK_POOL', 'hasOwnProperty', 'A'.repeat(129)])(
    'what the vault refuses is refused here: %.40s',
    async (name) => {
      expect(secretNameFault(name)).toBeTypeOf('string')
      expect((await build(name)).slugs).toEqual(['webhook-secret-inline'])
    },
  )
})
