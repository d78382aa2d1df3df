/** The requests of the seventeen verbs of `stack auth`, sent to the module that answers them. */
import { beforeAll, describe, expect, it } from 'vitest'
import { administer } from '../../support/management.ts'
import { useStack } from '../../support/stack.ts'
import { titled } from '../../support/titles.ts'
import { type FirstRead, type Verb, verbRecipient, verbSession, verbs, verbUser } from '../../support/verbs.ts'

const shop = useStack('examples/orders')
const admin = administer(shop)

beforeAll(async () => {
  await shop.sql('insert into auth.users (id, email) values ($1, $2)', [verbUser, verbRecipient])
  await shop.sql(`insert into auth.sessions (id, user_id, expires_at) values ($1, $2, now() + interval '1 day')`, [
    verbSession,
    verbUser,
  ])
})

/** Brings the stack into the state that the verb reads. @returns the entity tag that the stack gives for it. */
async function tagOf(verb: Verb, { path, body }: FirstRead): Promise<string> {
  if (path === '/settings') await admin.call('PUT', '/settings', body)
  const { json, headers } = await admin.call('GET', path)
  if (path === '/settings') expect(json).toEqual(body)
  const [one] = Array.isArray(json.data)
    ? json.data.filter(({ name }: { name: string }) => name === verb.positionals[0])
    : []
  return one?.etag ?? headers.get('etag')
}

async function send(verb: Verb) {
  const { method, path, headers, body, reads } = verb
  const sent = reads ? { ...headers, 'if-match': await tagOf(verb, reads) } : headers
  return admin.call(method, path, body, { headers: sent })
}

const cases = titled(verbs.map((verb) => [[verb.words, ...verb.positionals, ...verb.flags].join(' '), verb] as const))

describe('the verbs of `stack auth`', () => {
  it('are seventeen', () => {
    expect(new Set(verbs.map(({ words }) => words)).size).toBe(17)
  })

  it.each(cases.map(([, words, verb]) => [words.slice(0, 100), verb] as const))('%s', async (_words, verb) => {
    const { status, json, headers } = await send(verb)
    expect([status, headers.get('cache-control')]).toEqual([verb.status, 'no-store'])
    expect(Object.keys(json)).toEqual(expect.arrayContaining([...verb.answer]))
    if (verb.status < 400) expect(json).not.toHaveProperty('error')
  })

  it.each(verbs.filter(({ reads }) => reads).map((verb) => [verb.words, verb.path, verb] as const))(
    '%s %s with a stale entity tag is 412 with the current one',
    async (_words, _path, verb) => {
      const tag = await tagOf(verb, verb.reads!)
      const { status, json, headers } = await admin.call(verb.method, verb.path, verb.body, {
        headers: { ...verb.headers, 'if-match': '"0"' },
      })
      expect([status, json.error, json.etag, headers.get('etag')]).toEqual([412, 'precondition_failed', tag, tag])
    },
  )
})
