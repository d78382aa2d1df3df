/** `stack secret set <NAME> --stdin`, or `<NAME>=<value>`: one entry of the vault, replaced whole. */
import { addressOf } from '../../src/wire/address.ts'
import { vault } from '../../src/wire/operations.ts'
import { secretNameFault } from '../../src/wire/secrets.ts'
import { Failure } from '../shared/failure.ts'
import { manage } from '../shared/management.ts'
import { devVars } from '../shared/project.ts'
import { standardInput } from '../shared/standard-input.ts'
import { locateTarget, type Target, type TargetFlags } from '../shared/target.ts'

export interface SetFlags extends TargetFlags {
  stdin?: boolean
}

/** Largest value in bytes that is read. The vault takes 65,536 characters, and refuses a longer value itself. */
const mostBytes = 1024 * 1024

export async function runSet(flags: SetFlags, given: string): Promise<void> {
  const { name, value } = flags.stdin ? await fromStandardInput(given) : fromArgument(given)
  if (value === '')
    throw new Failure('usage', `the value of ${name} is empty: \`stack secret unset ${name}\` removes it`)
  const target = await locateTarget(flags)
  await manage(target, { method: vault.put.method, path: addressOf(vault.put, { name }) }, { value })
  process.stderr.write(`  ${name} is stored (${Buffer.byteLength(value)} bytes): requests see it within 5 s\n`)
  noteBinding(target, name)
}

/** Prints a note where the local stack does not read the entry, because `.dev.vars` has the name too. */
export function noteBinding({ isLocal, root }: Target, name: string): void {
  if (!isLocal || !Object.hasOwn(devVars(root), name)) return
  process.stderr.write(`  the local stack reads ${name} from .dev.vars, which wins over the vault\n`)
}

/** @throws Failure without the name in it, because the name may be the value. */
function requireName(name: string): void {
  const reason = secretNameFault(name)
  if (reason) throw new Failure('usage', reason)
}

function fromArgument(given: string): { name: string; value: string } {
  const at = given.indexOf('=')
  const name = at === -1 ? given : given.slice(0, at)
  requireName(name)
  if (at === -1) {
    throw new Failure('usage', `the value is missing: \`… | stack secret set ${name} --stdin\`, or ${name}=<value>`)
  }
  if (process.stdin.isTTY)
    process.stderr.write('  the value is in the history of this shell now: --stdin keeps it out\n')
  return { name, value: given.slice(at + 1) }
}

/** Reads the value from standard input, without the one newline that `echo` and editors add. */
async function fromStandardInput(given: string): Promise<{ name: string; value: string }> {
  if (given.includes('=')) throw new Failure('usage', 'the value is given twice: in the argument, and by --stdin')
  requireName(given)
  if (process.stdin.isTTY)
    throw new Failure('usage', `--stdin reads a pipe or a file: stack secret set ${given} --stdin < file`)
  const text = await standardInput(mostBytes)
  const value = text.replace(/\r?\n$/, '')
  if (value !== text) process.stderr.write('  stripped one trailing newline\n')
  return { name: given, value }
}
