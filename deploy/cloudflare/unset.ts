/** The secrets that the code of a project reads and that are set nowhere, with what each of them breaks. */
import * as fs from 'node:fs'
import path from 'node:path'
import type { RouteTable } from '../../runtime/table.ts'

export interface WantedSecret {
  name: string
  /** The consequence, as the end of a sentence. */
  breaks: string
}

/** A read of a secret whose name is written out. */
const read = /\bSecrets\s*\.\s*get\(\s*(['"`])([A-Za-z_][A-Za-z0-9_]*)\1\s*\)/g

/** @param folder absolute path of the entry's folder. */
export function wantedSecrets({ webhooks }: RouteTable, folder: string): WantedSecret[] {
  const wanted = new Map<string, string[]>()
  const add = (name: string, breaks: string) => wanted.set(name, [...(wanted.get(name) ?? []), breaks])
  for (const { name, secret } of webhooks) {
    add(secret.env, `the webhook ${name} refuses every delivery`)
    if (secret.previous !== undefined)
      add(secret.previous, `the webhook ${name} refuses deliveries under its previous secret`)
    if (secret.verify !== undefined) add(secret.verify, `the webhook ${name} cannot be subscribed`)
  }
  for (const [file, names] of readsBelow(folder)) {
    for (const name of names) if (!wanted.has(name)) add(name, `Secrets.get throws in ${file}`)
  }
  return [...wanted].map(([name, breaks]) => ({ name, breaks: breaks.join(', ') }))
}

function readsBelow(folder: string): [string, Set<string>][] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(
      (name) =>
        /\.tsx?$/.test(name) && !/\.(?:test|spec|d)\.tsx?$|(?:^|[\\/])(?:node_modules|\.[^\\/]*)[\\/]/.test(name),
    )
    .sort()
    .map((name) => {
      const text = fs.readFileSync(path.join(folder, name), 'utf8')
      return [name, new Set([...text.matchAll(read)].map(([, , found]) => found!))]
    })
}
