/** The files `stack/oauth/{web,ios,android}.json`: the public fields of the clients that an app of each platform signs in with. */
import * as fs from 'node:fs'
import path from 'node:path'
import { writeTogether } from '../../build/emit/write.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'
import type { OAuthProvider, Platform } from '../../src/wire/providers.ts'

export const platforms = ['web', 'ios', 'android'] as const

/** The public fields of a client, which holds neither a secret nor the name of one. */
export type PublicClient = { client_key: string } & Record<string, string | string[]>

export interface Snapshot {
  project: string
  /** The environment's name in `stack/project.json`, or `local`. */
  environment: string
  ref: string
  /** Has no slash at its end. */
  base_url: string
  /** Known of the local stack alone. */
  publishable_key?: string
  platform: Platform
  application_key: string
  variant: string
  providers: Partial<Record<OAuthProvider, PublicClient>>
}

export interface Change {
  /** Relative to the project. */
  file: string
  change: 'written' | 'unchanged' | 'removed'
}

/** @returns the relative path of a platform's snapshot. */
export function snapshotPath(platform: Platform): string {
  return `${projectPaths.oauth}/${platform}.json`
}

export function hasSnapshots(root: string): boolean {
  return platforms.some((platform) => fs.existsSync(path.join(root, snapshotPath(platform))))
}

/** @throws Error with the file's name for one that cannot be read or is no snapshot. */
export function readSnapshot(root: string, platform: Platform): Snapshot | undefined {
  let text: string
  try {
    text = fs.readFileSync(path.join(root, snapshotPath(platform)), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const found = JSON.parse(text) as Snapshot
    if (typeof found.ref === 'string' && typeof found.providers === 'object' && found.providers !== null) return found
  } catch {
    // the error below says the same of text that is no JSON
  }
  throw new Error(`${snapshotPath(platform)} is no snapshot of this tool`)
}

/**
 * Writes the snapshots of the given platforms, all or none. A platform without one loses its file. A file that would not change is
 * not touched, because build tools look at its time.
 */
export function writeSnapshots(root: string, wanted: ReadonlyMap<Platform, Snapshot | undefined>): Change[] {
  const changes: Change[] = []
  const changed: { file: string; contents: string }[] = []
  for (const [platform, snapshot] of wanted) {
    const file = path.join(root, snapshotPath(platform))
    const before = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined
    if (snapshot === undefined) {
      if (before !== undefined) changes.push({ file: snapshotPath(platform), change: 'removed' })
      continue
    }
    const contents = `${JSON.stringify(snapshot, undefined, 2)}\n`
    changes.push({ file: snapshotPath(platform), change: before === contents ? 'unchanged' : 'written' })
    if (before !== contents) changed.push({ file, contents })
  }
  writeTogether(changed)
  for (const { file, change } of changes) if (change === 'removed') fs.rmSync(path.join(root, file), { force: true })
  return changes
}
