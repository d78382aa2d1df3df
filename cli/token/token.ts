/** `stack token <user>`: a session of the local stack, for trying out routes (contract 10.5). No other stack issues one. */
import { addressOf } from '../../src/wire/address.ts'
import { accounts, sessions } from '../../src/wire/operations.ts'
import { enrolDebugDevice } from '../shared/debug-device.ts'
import { Failure } from '../shared/failure.ts'
import { printAnswer } from '../shared/http-verb.ts'
import { announce, send } from '../shared/management.ts'
import { printJson, writeOut } from '../shared/output.ts'
import { readPayload } from '../shared/payload.ts'
import { locateTarget, type Target } from '../shared/target.ts'

export interface TokenFlags {
  project?: string
  json?: boolean
  /** A method and a path with its query: the request that a debug device signs. */
  device?: string
  /** The body of that request. */
  data?: string
}

export async function runToken(flags: TokenFlags, user: string): Promise<void> {
  const request = await requestOf(flags)
  const target = await locateTarget({ ...flags, env: 'local' })
  announce(target)
  const id = user.includes('@') ? await idOf(target, user) : user
  const answer = await send(target, { method: sessions.issue.method, path: addressOf(sessions.issue, { id }) })
  const issued = JSON.parse(answer.text) as { access_token: string }
  if (request) return printSigned(target, issued, request, flags)
  if (flags.json) await printAnswer(answer)
  else await writeOut(`${issued.access_token}\n`)
}

interface Signed {
  method: string
  target: string
  body: string | undefined
}

/** @throws Failure for text that is no request. */
async function requestOf({ device, data }: TokenFlags): Promise<Signed | undefined> {
  if (device === undefined) {
    if (data !== undefined) throw new Failure('usage', '--data is the body of the request that --device names')
    return undefined
  }
  const [, method, path] = /^([A-Z]{3,7}) (\/\S*)$/.exec(device) ?? []
  if (method === undefined)
    throw new Failure('usage', `--device takes a method and a path, like "GET /orders", not "${device}"`)
  const { pathname, search } = new URL(path!, 'http://stack.invalid') // devices sign the spelling of the URL standard
  const body = data === undefined ? undefined : (await readPayload('--data', data)).text
  return { method, target: `${pathname}${search}`, body }
}

/** Prints the headers of one request of a new debug device. The assertion is good for a minute. */
async function printSigned(
  { baseUrl }: Target,
  issued: { access_token: string },
  request: Signed,
  flags: TokenFlags,
): Promise<void> {
  const accessToken = issued.access_token
  const device = await enrolDebugDevice({ baseUrl, accessToken }).catch((error: Error) => {
    throw new Failure('refused', error.message)
  })
  const assertion = device.assertionFor({ ...request, accessToken })
  if (flags.json) return printJson({ ...issued, device_id: device.id, device_assertion: assertion })
  await writeOut(`authorization: Bearer ${accessToken}\ndevice-assertion: ${assertion}\n`)
}

/** @throws Failure where no user has the address. */
async function idOf(target: Target, email: string): Promise<string> {
  const { method, path } = accounts.list
  const { text } = await send(target, { method, path: `${path}?email=${encodeURIComponent(email)}` })
  const { data } = JSON.parse(text) as { data: { id: string }[] }
  if (data[0]) return data[0].id
  throw new Failure('refused', `error: no user of the local stack has the address ${email}`)
}
