/**
 * Hundreds of hostile access tokens against the real bundle, beside similar genuine ones (contract 3.1 to 3.4). Every fault
 * gets the same answer, and on a public route the caller is anonymous.
 */
import { afterAll, it as base, describe, expect } from 'vitest'
import { batched } from '../../support/batched.ts'
import { hostileTokens, type Lines } from '../../support/hostile-tokens/index.ts'
import { KeyServer } from '../../support/key-server.ts'
import { type RawAnswer, sendRaw } from '../../support/raw.ts'
import { useStack } from '../../support/stack.ts'

const keyServer = new KeyServer()
await keyServer.listen()
const place = { issuer: 'https://issuer.example', audience: 'project-ref', attacker: keyServer.url('/attacker') }
const { keySet, classes, anonymous, token } = await hostileTokens(place)
keyServer.answer('/jwks', keySet)
keyServer.answer('/attacker', keySet)

const probe = useStack('test/edge/probe', {
  AUTH_JWKS_URL: keyServer.url('/jwks'),
  AUTH_ISSUER: place.issuer,
  AUTH_AUDIENCE: place.audience,
})
afterAll(() => keyServer.close())

const send = (target: string, headers: Lines) => sendRaw({ url: probe.url, method: 'GET', target, headers })
/** Requests a route that requires a user and asks nothing of the database. */
const required = (headers: Lines) => send('/gates/object', headers)
/** Requests a public route, which answers with the value of `OptionalUser()`. */
const open = (headers: Lines) => send('/gates/false', headers)

/** @returns an answer without its parts that differ from one request to the next. */
function comparable({ status, headers, text }: RawAnswer): string {
  const id = headers.get('x-request-id')!
  const kept = [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  return JSON.stringify([status, kept, text.replace(id, 'req_')])
}

/** `refusal` is the comparable part of the answer to a request without a token, which every refused token must get. */
const it = base.extend('refusal', { scope: 'file' }, async () => comparable(await required([])))

/** Expects the one form of 401 where a user is required, and an anonymous caller on a public route. */
async function refusedProblem(lines: Lines, refusal: string): Promise<string | undefined> {
  const answer = await required(lines)
  if (comparable(answer) !== refusal) return `required: ${comparable(answer)}`
  const { status, text } = await open(lines)
  return status === 200 && text === '{"user":null}' ? undefined : `open: ${status} ${text}`
}

async function acceptedProblem({ lines, id }: { lines: Lines; id: string }): Promise<string | undefined> {
  const entered = await required(lines)
  if (entered.status !== 200 || entered.text !== '"entered"') return `required: ${entered.status} ${entered.text}`
  const { status, text } = await open(lines)
  if (status !== 200) return `open: ${status} ${text}`
  const { user } = JSON.parse(text)
  return user?.id === id && user.role === 'authenticated' ? undefined : `open: ${text}`
}

const all = classes.flatMap(({ name, accepted, refused }) =>
  [...accepted, ...refused].map(([what]) => `${name}: ${what}`),
)

it('the one refusal: the envelope, and nothing of its reason', async () => {
  const answer = await required([])
  expect(answer.status).toBe(401)
  expect(JSON.parse(answer.text)).toEqual({
    error: 'unauthorized',
    error_description: 'a valid access token is required',
    status: 401,
    request_id: answer.headers.get('x-request-id'),
  })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('www-authenticate')).toBe('Bearer')
})

it('each name stands for one token', () => {
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([])
  expect(classes.flatMap(({ refused }) => refused).length).toBeGreaterThanOrEqual(1000)
  expect(classes.flatMap(({ accepted }) => accepted).length).toBeGreaterThanOrEqual(150)
})

describe.each(classes)('$name', ({ accepted, refused }) => {
  it('what is genuine is accepted', async () => {
    expect(await batched(accepted, acceptedProblem)).toEqual([])
  })

  it('the rest is refused, with the one answer', async ({ refusal }) => {
    expect(await batched(refused, (lines) => refusedProblem(lines, refusal))).toEqual([])
  })
})

it('3.4 an anonymous session is nobody where a user is required, and OptionalUser() receives it', async ({
  refusal,
}) => {
  const lines: Lines = [['authorization', `Bearer ${anonymous}`]]
  expect(comparable(await required(lines))).toBe(refusal)
  expect(JSON.parse((await open(lines)).text).user).toMatchObject({ id: 'usr_1', role: 'anon' })
})

it('4.1 an address counts as verified where its claim is true, and nothing like it', async () => {
  const enter = async (email_verified: unknown) => {
    const answer = await probe.call('/gates/controller', { token: token({ email_verified }) })
    return [answer.status, answer.json.error]
  }
  expect(await enter(true)).toEqual([200, undefined])
  for (const value of [false, 'true', 1, null, [true], {}, undefined]) {
    expect([value, await enter(value)]).toEqual([value, [403, 'email_not_verified']])
  }
})

it.each(['Bearer a\0.b.c', 'Bearer a.\nb.c', 'Bearer a\r.b.c', 'Bearer a.b.c\r\nx'])(
  'what is no header, workerd refuses by itself, and not as its own failure: %j',
  async (value) => {
    expect((await required([['authorization', value]])).status).toBe(400)
  },
)

it('after all of this: one fetch of the key set, none of an attacker’s, and no error in the log', async () => {
  expect([keyServer.requests('/jwks'), keyServer.requests('/attacker')]).toEqual([1, 0])
  const isTrouble = ({ level, message }: Record<string, unknown>) =>
    (level === 'error' || level === 'warn') && !String(message).startsWith('webhook ')
  expect(probe.log.filter(isTrouble)).toEqual([])
})

it('3.3 the reason is in the log alone, without the token', async () => {
  const reasons = new Set(probe.log.map(({ reason }) => reason).filter((reason) => reason !== undefined))
  expect(reasons.size).toBeGreaterThanOrEqual(10)
  expect([...reasons].filter((reason) => !/^[a-z_]+$/.test(String(reason)))).toEqual([])
  const texts = JSON.stringify(probe.log)
  const sent = classes.flatMap(({ accepted, refused }) => [
    ...accepted.map(([, { lines }]) => lines),
    ...refused.map(([, lines]) => lines),
  ])
  const signatures = sent
    .flatMap((lines) => lines.map(([, value]) => value.split('.')[2]))
    .filter((one) => (one?.length ?? 0) > 40)
  expect(signatures.length).toBeGreaterThan(500)
  expect(signatures.filter((signature) => texts.includes(signature!))).toEqual([])
})
