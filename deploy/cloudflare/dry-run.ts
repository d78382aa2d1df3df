/** A rehearsal of a push: it asks neither Cloudflare nor the stack, and changes nothing. */
import path from 'node:path'
import { pendingOf } from '../database.ts'
import { DatabaseUnreachable, ownerUrl } from '../postgres/connection.ts'
import type { Deployment } from './configuration.ts'
import { keyNames, readKeyFile } from './keys.ts'
import { placementOf } from './placement.ts'
import { buildBoth, buildText, rehearseBoth } from './preparation.ts'
import { readProjectConfiguration } from './project-configuration.ts'
import type { PushOptions } from './push.ts'
import { wantedSecrets } from './unset.ts'

export interface DryRunOptions
  extends Pick<
    PushOptions,
    'root' | 'project' | 'roles' | 'environment' | 'ref' | 'baseUrl' | 'ca' | 'plan' | 'keyFile' | 'say'
  > {
  /** Without it the migrations are not compared. */
  databaseUrl: string | undefined
}

export interface DryRunResult {
  url: string
  dry_run: true
  /** Files that would be applied. `null` where the database could not be asked. */
  migrations: string[] | null
  /** Names of the secrets that the code reads. Whether they are set is not asked. */
  secrets: string[]
}

/** @throws PushFault, BuildRefused, or an error of the database that a push would end with too. */
export async function dryRun(options: DryRunOptions): Promise<DryRunResult> {
  const { root, project, roles, environment, ref, baseUrl, plan, databaseUrl, keyFile, say } = options
  const file = readKeyFile(keyFile)
  const configuration = readProjectConfiguration(root, environment)
  const built = await buildBoth(root, project, roles, plan)
  say(buildText(built))
  for (const note of configuration.notes) say(`           ! ${note}`)
  const deployment: Deployment = {
    ...{ root, project: project.project, environment, ref, baseUrl, configuration, plan },
    tables: { auth: built.auth.table, backend: built.backend.table },
    placement: databaseUrl === undefined ? undefined : placementOf(ownerUrl(databaseUrl)),
    facts: { auth: {}, backend: {} },
  }
  for (const line of await rehearseBoth(deployment)) say(line)
  const pending = await compareMigrations(options)
  const folder = path.dirname(path.join(root, project.entry))
  const wanted = wantedSecrets(built.backend.table, folder)
  for (const { name, breaks } of wanted) say(`secrets    ${name} is needed: without it ${breaks}`)
  const unknown = keyNames.filter((name) => file?.keys[name] === undefined)
  say(
    unknown.length === 0
      ? `keys       all are in ${keyFile}`
      : `keys       ${unknown.join(', ')} would be minted where Cloudflare has none`,
  )
  say('nothing was uploaded, and Cloudflare was not asked')
  return { url: baseUrl, dry_run: true, migrations: pending, secrets: wanted.map(({ name }) => name) }
}

async function compareMigrations({ databaseUrl, ca, root, say }: DryRunOptions): Promise<string[] | null> {
  if (databaseUrl === undefined) {
    say('database   the migrations were not compared: DATABASE_URL is not set')
    return null
  }
  try {
    const pending = await pendingOf({ url: databaseUrl, ca, root })
    say(`database   ${pending.length > 0 ? `would apply ${pending.join(', ')}` : 'nothing to migrate'}`)
    return pending
  } catch (error) {
    if (!(error instanceof DatabaseUnreachable)) throw error
    say(`database   ! the migrations were not compared: ${error.message}`)
    return null
  }
}
