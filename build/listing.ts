/** Which files are a project's sources (contract 1.8). */
import * as fs from 'node:fs'
import path from 'node:path'

/** Sorted, so that nothing depends on the order in which a file system lists. */
export function sourcesBelow(folder: string): string[] {
  if (!fs.existsSync(folder)) return []
  const found: string[] = []
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const absolute = path.join(folder, entry.name)
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue // editors keep locks and drafts there
    if (entry.isDirectory()) found.push(...sourcesBelow(absolute))
    else if (isSource(entry.name) && (!entry.isSymbolicLink() || isFile(absolute))) found.push(absolute)
  }
  return found
}

function isSource(name: string): boolean {
  return /\.tsx?$/.test(name) && !/\.(?:d|test|spec)\.tsx?$/.test(name)
}

/** A link may lead to nothing. */
function isFile(absolute: string): boolean {
  return fs.statSync(absolute, { throwIfNoEntry: false })?.isFile() ?? false
}
