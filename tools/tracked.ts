import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'

/** @returns paths of the tracked files that match a pattern of git, relative to the root; files that were removed are left out. */
export function trackedFiles(root: string, ...patterns: string[]): string[] {
  const { stdout } = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns], {
    cwd: root,
    encoding: 'utf8',
  })
  return stdout.split('\n').filter((file) => file !== '' && fs.existsSync(path.join(root, file)))
}
