/** Lists the sources of a project (contract 1.8). */
import * as fs from 'node:fs'
import path from 'node:path'

/** Absolute paths, sorted so that the result does not depend on the file system. */
export function sourcesBelow(folder: string): string[] {
  if (!fs.existsSync(folder)) return []
  const found: string[] = []
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const absolute = path.join(folder, entry.name)
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue // Editors keep locks and drafts in hidden files.
    if (entry.isDirectory()) found.push(...sourcesBelow(absolute))
    else if (isSource(entry.name) && (!entry.isSymbolicLink() || isFile(absolute))) found.push(absolute)
  }
  return found
}

function isSource(name: string): boolean {
  return /\.tsx?$/.test(name) && !/\.(?:d|test|spec)\.tsx?$/.test(name)
}

/** A symbolic link may lead to no file. */
function isFile(absolute: string): boolean {
  return fs.statSync(absolute, { throwIfNoEntry: false })?.isFile() ?? false
}
