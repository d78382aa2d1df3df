/** The webhooks of a project as it was last built, and the stack that serves them. */
import * as fs from 'node:fs'
import path from 'node:path'
import { type LocalRecord, readRecord } from '../../local/record.ts'
import { namesInVault } from '../../local/vault.ts'
import type { RouteTable, Webhook } from '../../runtime/table.ts'
import { nearest } from '../../src/wire/nearest.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'
import { Failure } from '../failure.ts'

/** @throws Failure where nothing was built. */
export function mountedWebhooks(root: string): Webhook[] {
  const file = path.join(root, '.stack/table.json')
  if (!fs.existsSync(file)) throw new Failure('refused', 'error: the project is not built yet: run `stack build`')
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as RouteTable).webhooks
}

/** @throws Failure naming those that there are. */
export function webhookNamed(root: string, name: string): Webhook {
  const mounted = mountedWebhooks(root)
  const found = mounted.find((webhook) => webhook.name === name)
  if (found) return found
  const names = mounted.map((webhook) => webhook.name)
  const near = nearest(name, names)
  const hint = near ? `did you mean ${near}?` : names.length > 0 ? `mounted: ${names.join(', ')}` : 'there is none'
  throw new Failure('usage', `no webhook is named ${name}: ${hint}`)
}

/** @returns `undefined` where none runs. */
export async function liveRecord(root: string): Promise<LocalRecord | undefined> {
  const found = await readRecord(path.join(root, projectPaths.localRecord))
  return found?.isLive ? found.record : undefined
}

/** @throws Failure where none runs. */
export async function runningStack(root: string): Promise<LocalRecord> {
  const record = await liveRecord(root)
  if (record) return record
  throw new Failure('no stack', 'no stack of this project runs here: `stack start` runs one')
}

/** @throws Failure when the vault cannot be listed: what it holds must be known before anything is taken for unset. */
export function vaultNames(record: LocalRecord): Promise<string[]> {
  return namesInVault(record).catch((error: Error) => {
    throw new Failure('unreachable', error.message)
  })
}
