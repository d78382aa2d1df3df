/** A database that answers what a test says, in place of the driver: transactions are tested in milliseconds. */
import { type Mock, vi } from 'vitest'
import type { Call } from '../../runtime/call.ts'
import type { Statement } from '../../runtime/database/batch.ts'
import type { Grants } from '../../runtime/database/grants.ts'
import type { Identity } from '../../runtime/identity/identify.ts'

type Context = Grants & { session_ended: boolean }

interface Reply {
  tag?: string
  rows?: Record<string, unknown>[]
  transactionId?: string
  hasEnded?: boolean
  error?: Error
}

export interface FakeDatabase {
  /** What was asked of each connection, as `<binding>: <text>`, in one order. */
  asked: string[]
  /** The statements of each first batch. */
  batches: Statement[][]
  /** The answer of `auth.request_context`. */
  context: Context
  /** The answer to a statement. */
  reply: (text: string) => Reply | Promise<Reply>
  /** The answer to COMMIT, by binding. */
  commits: Record<string, string | Error>
  /** Errors of the next attempts to connect. */
  refusals: Error[]
  open: Mock
}

export function fakeDatabase(): FakeDatabase {
  const database: FakeDatabase = {
    asked: [],
    batches: [],
    context: { roles: ['staff'], permissions: [], operator: false, session_ended: false },
    reply: () => ({}),
    commits: {},
    refusals: [],
    open: vi.fn(async (url: string, statements: Statement[]) => {
      const binding = url.replace('postgresql://', '')
      const refusal = database.refusals.shift()
      if (refusal) throw refusal
      database.batches.push(statements)
      database.asked.push(`${binding}: begin`)
      const results = statements.map((_, index) => ({ rows: index === 2 ? [database.context] : [] }))
      const commit = async () => {
        database.asked.push(`${binding}: commit`)
        const answer = database.commits[binding] ?? 'COMMIT'
        if (answer instanceof Error) throw answer
        return answer
      }
      const link = {
        async run({ text }: Statement) {
          database.asked.push(`${binding}: ${text}`)
          const {
            error,
            tag = 'SELECT 1',
            rows = [],
            transactionId = null,
            hasEnded = false,
          } = await database.reply(text)
          if (error) throw error
          return { result: { tag, rows }, transactionId, hasEnded }
        },
        commit,
        async close() {
          database.asked.push(`${binding}: close`)
        },
      }
      return { link, results }
    }),
  }
  return database
}

export const signedIn = { claims: { sub: 'usr_1', exp: 1 }, role: 'authenticated' } as Identity

export interface FakeCall {
  call: Call
  lines: string[]
  /** Waits for the work that outlives the answer. */
  settled(): Promise<void>
}

/** @param env bindings beside those of the database. */
export function fakeCall(env: Record<string, unknown> = {}): FakeCall {
  const lines: string[] = []
  const later: Promise<unknown>[] = []
  const call = {
    env: {
      DATABASE_URL: 'postgresql://caller',
      DATABASE_SERVICE_URL: 'postgresql://service',
      CLAIMS_KEY: 'the key of the claims',
      STACK_URL: 'https://stack.example/',
      ...env,
    },
    request: new Request('https://stack.example/a', { headers: { 'cf-connecting-ip': '192.0.2.7' } }),
    log: (_level: string, message: string) => lines.push(message),
    waitUntil: (promise: Promise<unknown>) => later.push(promise),
  } as unknown as Call
  return {
    call,
    lines,
    async settled() {
      await Promise.allSettled(later)
    },
  }
}
