/** The webhooks of a project as it was last built, and the names in the vault of its running stack. */
import * as fs from 'node:fs'
import path from 'node:path'
import type { LocalRecord } from '../../local/record.ts'
import { namesInVault } from '../../local/vault.ts'
import type { RouteTable, Webhook } from '../../runtime/table.ts'
import { nearest } from '../../src/wire/nearest.ts'
import { Failure } from '../shared/failure.ts'

/** @throws Failure for a project that is not built. */
export function mountedWebhooks(root: string): Webhook[] {
  const file = path.join(root, '.stack/table.json')
  if (!fs.existsSync(file)) throw new Failure('refused', 'error: the project is not built yet: run `stack build`')
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as RouteTable).webhooks
}

/** @throws Failure that names the mounted webhooks. */
export function webhookNamed(root: string, name: string): Webhook {
  const mounted = mountedWebhooks(root)
  const found = mounted.find((webhook) => webhook.name === name)
  if (found) return found
  const names = mounted.map((webhook) => webhook.name)
  const near = nearest(name, names)
  const hint = near ? `did you mean ${near}?` : names.length > 0 ? `mounted: ${names.join(', ')}` : 'there is none'
  throw new Failure('usage', `no webhook is named ${name}: ${hint}`)
}

/** @throws Failure when the vault cannot be listed: without its names, a secret could wrongly count as unset. */
export function vaultNames(record: LocalRecord): Promise<string[]> {
  return namesInVault(record).catch((error: Error) => {
    throw new Failure('unreachable', error.message)
  })
}
