/** `stack secret set <NAME> --stdin`, or `<NAME>=<value>`: one entry of the vault, replaced whole. */
import { refuseSecretName } from '../../src/wire/secrets.ts'
import { Failure } from '../failure.ts'
import { manage } from '../management.ts'
import { locateTarget } from '../target.ts'

export async function runSet(flags: { project?: string; env?: string; stdin?: boolean }, given: string): Promise<void> {
  const { name, value } = flags.stdin ? { name: given, value: await readStandardInput(given) } : pair(given)
  requireName(name)
  if (value === '')
    throw new Failure('usage', `the value of ${name} is empty: \`stack secret unset ${name}\` removes it`)
  const target = await locateTarget(flags)
  await manage(target, 'PUT', `/admin/vault/backend/${name}`, { value })
  process.stderr.write(`  ${name} is stored (${Buffer.byteLength(value)} bytes): requests see it within 5 s\n`)
}

export function requireName(name: string): void {
  const reason = refuseSecretName(name)
  if (reason) throw new Failure('usage', reason)
}

function pair(given: string): { name: string; value: string } {
  const at = given.indexOf('=')
  if (at === -1) {
    throw new Failure('usage', `the value is missing: \`… | stack secret set ${given} --stdin\`, or ${given}=<value>`)
  }
  if (process.stdin.isTTY)
    process.stderr.write('  the value is in the history of this shell now: --stdin keeps it out\n')
  return { name: given.slice(0, at), value: given.slice(at + 1) }
}

/** As it is, but for one line end that a pipe has added. */
async function readStandardInput(given: string): Promise<string> {
  if (given.includes('=')) throw new Failure('usage', 'the value is given twice: in the argument, and by --stdin')
  if (process.stdin.isTTY)
    throw new Failure('usage', `--stdin reads a pipe or a file: stack secret set ${given} --stdin < file`)
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new Failure('usage', 'the value is not UTF-8 text: encode it first, as base64 for example')
  }
  const value = text.replace(/\r?\n$/, '')
  if (value !== text) process.stderr.write('  one line end after the value was left out\n')
  return value
}
