/** `stack auth providers config set` and `clear`: one write under the entity tag that was read before (contract 9.2, 9.3). */

import { providers } from '../../src/wire/operations.ts'
import { readCredential } from '../../src/wire/provider-credentials.ts'
import { providerNamed, readProviderConfig } from '../../src/wire/providers.ts'
import { type ConfirmFlags, confirm } from '../shared/confirm.ts'
import { Failure } from '../shared/failure.ts'
import { pathOf, printAnswer, segmentOf } from '../shared/http-verb.ts'
import { announce, send } from '../shared/management.ts'
import { type Payload, readPayload, requireStrict } from '../shared/payload.ts'
import { locateTarget, type Target, type TargetFlags } from '../shared/target.ts'
import { refreshArtifacts } from './artifacts.ts'

export interface ConfigureFlags extends TargetFlags {
  json?: string
  credential?: string
}

export interface ClearFlags extends TargetFlags, ConfirmFlags {
  credential?: string
}

export async function runConfigure(flags: ConfigureFlags, name: string): Promise<void> {
  const { json, credential } = flags
  if (json === undefined) throw new Failure('usage', 'the document is missing: --json <document>, @<file> or -')
  const payload = await readPayload('--json', json, credential !== undefined)
  checkLocally(payload, name, credential)
  const path =
    credential === undefined
      ? pathOf(providers.configure, [name])
      : pathOf(providers.writeCredential, [name, credential])
  const target = await locateTarget(flags)
  await write(target, name, { method: providers.configure.method, path, body: payload.text })
}

export async function runClear(flags: ClearFlags, name: string): Promise<void> {
  const { credential } = flags
  const query = credential === undefined ? '' : `?credential=${segmentOf(credential)}`
  const path = `${pathOf(providers.clear, [name])}${query}`
  const target = await locateTarget(flags)
  await confirm(`remove every client of ${name}`, target, flags)
  await write(target, name, { method: providers.clear.method, path })
}

/** Reads the entity tag, then writes once. Where the read fails, nothing is written. */
async function write(
  target: Target,
  name: string,
  call: { method: string; path: string; body?: string },
): Promise<void> {
  announce(target)
  const { text } = await send(target, providers.list)
  await printAnswer(await send(target, { ...call, ifMatch: etagOf(text, name) }))
  await refreshArtifacts(target)
}

/** The entity tag of the provider in the list. A provider that is not in it is the stack's to refuse. */
function etagOf(list: string, name: string): string | undefined {
  const { data } = (list === '' ? {} : JSON.parse(list)) as { data?: unknown }
  const own = providerNamed(name) ?? name
  const found = (Array.isArray(data) ? data : []).find((one: { name?: unknown } | null) => one?.name === own)
  return typeof found?.etag === 'string' ? found.etag : undefined
}

/** Refuses what the stack would refuse too, with line and column. A name that this tool does not know is not checked. */
function checkLocally(payload: Payload, name: string, credential: string | undefined): void {
  const provider = providerNamed(name)
  requireStrict(payload, (json) => {
    if (!provider) return []
    return credential === undefined ? readProviderConfig(provider, json).faults : readCredential(provider, json).faults
  })
}
