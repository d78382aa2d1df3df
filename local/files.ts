/** The files of a local stack, all below `.stack/` of its project. */
import path from 'node:path'
import { projectPaths } from '../src/wire/project-paths.ts'

export interface StackFiles {
  /** The record of the stack that runs (contract 1.5). */
  record: string
  /** The lock of the folder. */
  lock: string
  /** The keys that outlive a start (contract 1.3). */
  keys: string
  /** The folder of the Postgres cluster. */
  database: string
  /** The folder of the objects that the backend worker stores. */
  storage: string
  /** The folder of the backend worker's bundle. */
  backend: string
  /**
   * The folder of the auth module's build. Its bundle is in `out/`. It has debug devices, so it stands apart from `auth`, which is
   * deployed.
   */
  auth: string
}

/** @param root absolute path of the project. */
export function stackFiles(root: string): StackFiles {
  const below = (name: string) => path.join(root, projectPaths.generated, name)
  return {
    record: path.join(root, projectPaths.localRecord),
    lock: below('processes.json'),
    keys: below('keys.json'),
    database: below('db'),
    storage: below('storage'),
    backend: below('out'),
    auth: below('auth-local'),
  }
}
