/** `stack login --stdin` and `stack logout`: the stored credential of an environment (contract 10.4). */
import { settings } from '../../src/wire/operations.ts'
import { credentialsFile, type StoredCredential, storeCredential } from '../shared/credentials.ts'
import { Failure } from '../shared/failure.ts'
import { announce, send } from '../shared/management.ts'
import { standardInput } from '../shared/standard-input.ts'
import { chooseStack, headerOf, isHeaderValue, type TargetFlags } from '../shared/target.ts'

export interface LoginFlags extends TargetFlags {
  stdin?: boolean
}

/** Largest credential in bytes: an access token has a few KiB at most. */
const mostBytes = 16_384

/** A credential that the stack refuses is not stored. */
export async function runLogin(flags: LoginFlags): Promise<void> {
  if (!flags.stdin)
    throw new Failure('usage', 'the credential is read from standard input: stack login --env <name> --stdin < key.txt')
  const choice = await chooseStack(flags)
  if (choice.record)
    throw new Failure('usage', 'the local stack needs no login: its key is in its own record. Name another by --env')
  const given = (await standardInput(mostBytes)).replace(/\r?\n$/, '')
  if (!isHeaderValue(given))
    throw new Failure('usage', 'standard input holds no credential: one line without blanks is needed')
  const stored: StoredCredential = isToken(given) ? { access_token: given } : { service_role_key: given }
  const target = { ...choice, isLocal: false, credential: headerOf(stored), timeoutMs: (flags.timeout ?? 30) * 1000 }
  announce(target)
  await send(target, settings.read)
  storeCredential(choice.ref, stored)
  const kind = isToken(given) ? 'access token' : 'service-role key'
  process.stderr.write(`  the ${kind} of ${choice.environment} is stored in ${credentialsFile()}\n`)
}

export async function runLogout(flags: TargetFlags): Promise<void> {
  const { ref, environment, record } = await chooseStack(flags)
  if (record) throw new Failure('usage', 'the local stack has no stored credential: name an environment by --env')
  storeCredential(ref, undefined)
  process.stderr.write(`  no credential of ${environment} is stored any more\n`)
}

/** An access token is a JWS in its compact form: three parts. */
function isToken(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)
}
