/** Starts a local stack for a test file: the real bundle in workerd and a real Postgres, on loopback. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, vi } from 'vitest'
import { locateProject } from '../../cli/shared/project.ts'
import type { CapturedMessage } from '../../local/mailbox.ts'
import { findPort } from '../../local/ports.ts'
import { type LocalStack, startStack } from '../../local/start.ts'
import type { PathProxy } from './path-proxy.ts'
import { copyProject } from './project.ts'

export interface TestStack {
  /** `http://127.0.0.1:…`, and the path of the proxy where there is one. */
  url: string
  stack: LocalStack
  /** The folder of the project's copy. */
  root: string
  /** Waits for the first line of the log that is wanted, because lines arrive shortly after the answer. */
  logged(isWanted: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>
  /** Every line of the log so far. */
  log: readonly Record<string, unknown>[]
  /** Runs SQL as the owner of the database. */
  sql<T = Record<string, unknown>>(text: string, values?: unknown[]): Promise<T[]>
  call(path: string, options?: CallOptions): Promise<Answer>
  /** Waits for the newest message to an address or number, of a template where one is named. */
  mail(to: string, template?: string): Promise<CapturedMessage>
  /** Every message to an address or number so far, newest first. */
  mails(to: string): Promise<CapturedMessage[]>
  /** Signs up a new user. */
  signUp(): Promise<Person>
  /** Signs up a new user, whose address is confirmed in the database. The token is from before that. */
  signUpConfirmed(): Promise<Person>
  /** Assigns (PUT) or revokes (DELETE) a role, with the service-role key. */
  role(method: 'PUT' | 'DELETE', userId: string, role: string): Promise<Answer>
}

export interface CallOptions {
  method?: string
  token?: string
  /** Sent as JSON. */
  json?: unknown
  body?: BodyInit
  headers?: Record<string, string>
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it expects
  json: any
}

export interface Person {
  id: string
  email: string
  password: string
  token: string
  refreshToken: string
}

type Variables = Record<string, string>

/**
 * Copies the project to a temporary folder, starts it before the file's tests, and ends it after them.
 * @param variables bindings of the backend worker. A function gets the folder of the copy, and is called before the start.
 * @param options `auth` gives bindings of the auth worker, and is called before the start. Every client reaches the stack through
 * `proxy`, where there is one.
 */
export function useStack(
  project: string,
  variables?: Variables | ((root: string) => Promise<Variables>),
  { auth, proxy }: { auth?: () => Promise<Variables>; proxy?: PathProxy } = {},
): TestStack {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-edge-'))
  const source = path.resolve(import.meta.dirname, '../..', project)
  const log: Record<string, unknown>[] = []
  const test = { root, log } as unknown as TestStack
  let owner: pg.Client

  beforeAll(async () => {
    copyProject(source, root)
    const located = locateProject(root)
    const port = await findPort()
    await proxy?.listen(port)
    test.stack = await startStack(
      {
        ...located,
        variables: (typeof variables === 'function' ? await variables(root) : variables) ?? {
          PAYMENTS_SECRET: 'payments-secret',
          CODEHOST_SECRET: 'codehost-secret',
        },
        authVariables: (await auth?.()) ?? {},
        port,
        publicUrl: proxy?.url,
        fresh: false,
        say: () => {},
        onLog: (line) => log.push(parsed(line)),
      },
      new AbortController().signal,
    )
    test.url = proxy?.url ?? test.stack.record.base_url
    owner = new pg.Client(test.stack.record.database_url)
    owner.on('error', () => {})
    await owner.connect()
  })

  afterAll(async () => {
    await owner?.end().catch(() => {})
    await proxy?.close()
    await test.stack?.stop()
    fs.rmSync(root, { recursive: true, force: true })
  })

  test.logged = (isWanted) => vi.waitUntil(() => log.find(isWanted), { timeout: 5_000 })
  test.sql = async (text, values) => (await owner.query(text, values)).rows
  test.call = (address, options) => call(`${test.url}${address}`, options)
  test.role = (method, userId, role) =>
    test.call(`/v1/management/auth/users/${userId}/roles/${role}`, {
      method,
      headers: { apikey: test.stack.record.service_role_key },
    })
  test.mails = async (to) => {
    const { json } = await call(`${test.stack.record.dashboard_url}mailbox.json`)
    return json.data.filter((message: CapturedMessage) => message.to === to)
  }
  test.mail = (to, template) =>
    vi.waitUntil(
      async () => (await test.mails(to)).find((message) => template === undefined || message.template === template),
      { timeout: 10_000 },
    )
  test.signUp = async () => {
    const email = `person-${crypto.randomUUID()}@example.com`
    const password = 'correct horse battery'
    const { status, json, text } = await test.call('/auth/sign-up', { json: { email, password } })
    if (status !== 200) throw new Error(`sign-up answered ${status}: ${text}`)
    return { id: json.user.id, email, password, token: json.access_token, refreshToken: json.refresh_token }
  }
  test.signUpConfirmed = async () => {
    const person = await test.signUp()
    await test.sql('update auth.users set email_confirmed_at = now() where id = $1', [person.id])
    return person
  }
  return test
}

/** Sends a request with `fetch`, and reads its answer as text and as JSON. */
export async function call(url: string, options: CallOptions = {}): Promise<Answer> {
  const { token, json, body, headers = {} } = options
  const method = options.method ?? (json === undefined && body === undefined ? 'GET' : 'POST')
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(json === undefined ? (body === undefined ? {} : { body }) : { body: JSON.stringify(json) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parsed(text) }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    return { message: text }
  }
}
