/** `stack token <user>`: a session of the local stack, for trying out routes (contract 10.5). No other stack issues one. */
import { addressOf } from '../../src/wire/address.ts'
import { accounts, sessions } from '../../src/wire/operations.ts'
import { Failure } from '../shared/failure.ts'
import { printAnswer } from '../shared/http-verb.ts'
import { announce, send } from '../shared/management.ts'
import { writeOut } from '../shared/output.ts'
import { locateTarget, type Target } from '../shared/target.ts'

export interface TokenFlags {
  project?: string
  json?: boolean
}

export async function runToken(flags: TokenFlags, user: string): Promise<void> {
  const target = await locateTarget({ ...flags, env: 'local' })
  announce(target)
  const id = user.includes('@') ? await idOf(target, user) : user
  const answer = await send(target, { method: sessions.issue.method, path: addressOf(sessions.issue, { id }) })
  if (flags.json) await printAnswer(answer)
  else await writeOut(`${(JSON.parse(answer.text) as { access_token: string }).access_token}\n`)
}

/** @throws Failure where no user has the address. */
async function idOf(target: Target, email: string): Promise<string> {
  const { method, path } = accounts.list
  const { text } = await send(target, { method, path: `${path}?email=${encodeURIComponent(email)}` })
  const { data } = JSON.parse(text) as { data: { id: string }[] }
  if (data[0]) return data[0].id
  throw new Failure('refused', `error: no user of the local stack has the address ${email}`)
}
