/** Which files are a project's sources (contract 1.8). */
import * as fs from 'node:fs'
import path from 'node:path'

/** Sorted, so that nothing depends on the order in which a file system lists. */
export function sourcesBelow(folder: string): string[] {
  if (!fs.existsSync(folder)) return []
  const found: string[] = []
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const absolute = path.join(folder, entry.name)
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules' && !entry.name.startsWith('.')) found.push(...sourcesBelow(absolute))
    } else if (/\.tsx?$/.test(entry.name) && !/\.(?:d|test|spec)\.tsx?$/.test(entry.name)) found.push(absolute)
  }
  return found
}
