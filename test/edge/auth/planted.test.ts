/** Secrets that are planted over every route that takes or makes one: none is in a dump, the log, the audit trail or an answer. */
import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import { administer } from '../../support/management.ts'
import { useStack } from '../../support/stack.ts'
import { codeOf } from '../../support/totp.ts'

const shop = useStack('examples/orders')
const admin = administer(shop)

/** Every row of every table of the stack, as text. */
async function dump(): Promise<string> {
  const tables = await shop.sql<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const rows: string[] = []
  for (const { name } of tables) {
    rows.push(
      ...(await shop.sql<{ row: string }>(`select to_jsonb(one)::text as row from ${name} one`)).map(({ row }) => row),
    )
  }
  expect(rows.length).toBeGreaterThan(50)
  return rows.join('\n')
}

it('stay where they belong', async () => {
  const answers: string[] = []
  const secrets: Record<string, string> = {}
  const call: typeof shop.call = async (...request) => {
    const answer = await shop.call(...request)
    answers.push(answer.text)
    expect([answer.status < 500, answer.text]).toEqual([true, answer.text])
    return answer
  }
  const manage = async (method: string, path: string, json?: unknown) => {
    const answer = await admin.call(method, path, json)
    answers.push(answer.text)
    expect([answer.status < 400, answer.text]).toEqual([true, answer.text])
  }

  secrets['client secret'] = `planted-client-secret-${crypto.randomUUID()}`
  secrets['sender secret'] = `planted-sender-secret-${crypto.randomUUID()}`
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  secrets['private key'] = pem.split('\n')[1]!
  await manage('PUT', '/providers/google/credentials/web', {
    provider: 'google',
    kind: 'oauth_client_secret',
    client_secret: secrets['client secret'],
  })
  await manage('PUT', '/providers/email/credentials/smtp', {
    provider: 'email',
    kind: 'sender_secret',
    secret: secrets['sender secret'],
  })
  await manage('PUT', '/providers/apple/credentials/web', {
    provider: 'apple',
    kind: 'signing_key',
    team_id: 'ABCDE12345',
    key_id: 'ABCDE12345',
    private_key: pem,
  })
  await manage('GET', '/providers')

  secrets['vault entry'] = `planted-vault-entry-${crypto.randomUUID()}`
  const vaulted = await shop.call('/admin/vault/backend/PLANTED', {
    method: 'PUT',
    json: { value: secrets['vault entry'] },
    headers: { apikey: shop.stack.record.service_role_key },
  })
  expect(vaulted.status).toBe(204)

  // what a user has: the answers that give a secret out are not among those that are searched
  const email = `${crypto.randomUUID()}@example.com`
  secrets['password'] = `planted password ${crypto.randomUUID()}`.slice(0, 60)
  secrets['wrong password'] = `planted wrong ${crypto.randomUUID()}`
  const { json } = await shop.call('/auth/sign-up', { json: { email, password: secrets['password'] } })
  const token = json.access_token
  secrets['access token'] = token.split('.')[2]
  secrets['refresh token'] = json.refresh_token
  const mail = await shop.mail(email, 'confirm_email')
  secrets['link'] = /token=([A-Za-z0-9_-]{43})/.exec(mail.text)![1]!
  await call('/auth/sign-in/password', { json: { email, password: secrets['wrong password'] } })
  const enrolled = await shop.call('/auth/mfa/totp/enrol', { token, json: {} })
  secrets['TOTP secret'] = enrolled.json.secret
  const code = codeOf(enrolled.json.secret, -1)
  const verified = await shop.call('/auth/mfa/totp/verify', {
    token,
    json: { factor_id: enrolled.json.factor_id, code },
  })
  secrets['recovery code'] = verified.json.recovery_codes[0]
  await call('/auth/mfa', { token })
  const challenge = await call('/auth/sign-in/password', { json: { email, password: secrets['password'] } })
  await shop.call('/auth/mfa/challenge', {
    json: { challenge_id: challenge.json.challenge_id, recovery_code: secrets['recovery code'] },
  })
  await call('/auth/password/forgot', { json: { email } })
  secrets['reset link'] = /token=([A-Za-z0-9_-]{43})/.exec((await shop.mail(email, 'reset_password')).text)![1]!
  await call('/auth/user', { token })
  await call('/auth/sessions', { token })

  const id = json.user.id
  for (const path of [
    `/users/${id}`,
    `/users/${id}/export`,
    `/users/${id}/mfa`,
    '/sessions',
    '/audit?limit=500',
    '/users',
    '/settings',
  ])
    await manage('GET', path)
  await manage('POST', `/users/${id}/reset-password`, { mode: 'email' })
  await manage('POST', `/users/${id}/credentials/revoke-all`)

  secrets['service-role key'] = shop.stack.record.service_role_key
  const places = { database: await dump(), log: JSON.stringify(shop.log), answers: answers.join('\n') }
  const found = Object.entries(secrets).flatMap(([what, secret]) =>
    Object.entries(places)
      .filter(
        ([, text]) => text.includes(secret) || text.includes(Buffer.from(secret).toString('base64').replace(/=+$/, '')),
      )
      .map(([where]) => `${what} in the ${where}`),
  )
  expect(Object.values(secrets).every((secret) => typeof secret === 'string' && secret.length >= 16)).toBe(true)
  expect(found).toEqual([])
  expect(places.database).toContain(email) // the dump is one of this user's rows
})
