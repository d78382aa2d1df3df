/** Applies exact fixes to the source files (`stack build --fix`, contract 8.2). */
import * as fs from 'node:fs'
import path from 'node:path'
import { writeTogether } from './emit/write.ts'
import type { Edit, Refusal } from './refusals/index.ts'
import { withoutMark } from './sources.ts'

/**
 * Applies every edit that meets no other. Of two edits that meet, the first is applied, and the other one after the result
 * was checked again. The edits of one refusal are applied together or not at all, and all files are written together.
 * @param root absolute.
 * @param done the refusals that earlier rounds have fixed. Their fix did not help if they are still there.
 * @returns the refusals that were fixed, and absolute paths of the files that changed.
 */
export function applyFixes(
  root: string,
  refusals: readonly Refusal[],
  done: Set<string> = new Set(),
): { fixed: Refusal[]; changed: Set<string> } {
  const taken: Edit[] = []
  const fixed: Refusal[] = []
  for (const refusal of refusals) {
    const { edits } = refusal
    const key = `${refusal.slug} ${refusal.place.file} ${refusal.message}`
    if (done.has(key) || !edits.every(({ place }) => isText(path.join(root, place.file)))) continue
    // Two refusals may need the same edit, like one import for two decorators. It is applied once.
    const added = edits.filter((edit) => !taken.some((other) => isSame(edit, other)))
    if (edits.length === 0 || added.some((edit) => taken.some((other) => meets(edit, other)))) continue
    taken.push(...added)
    fixed.push(refusal)
    done.add(key)
  }
  const files = [...new Set(taken.map(({ place }) => place.file))]
  writeTogether(
    files.map((name) => {
      const file = fs.realpathSync(path.join(root, name)) // Keeps a symbolic link a link.
      const text = fs.readFileSync(file, 'utf8')
      const edits = taken.filter(({ place }) => place.file === name)
      return { file, contents: edited(text, edits), mode: fs.statSync(file).mode & 0o777 }
    }),
  )
  return { fixed, changed: new Set(files.map((name) => path.join(root, name))) }
}

function isSame(a: Edit, b: Edit): boolean {
  return (
    a.text === b.text && a.place.file === b.place.file && a.place.start === b.place.start && a.place.end === b.place.end
  )
}

/** Two insertions at one place meet, too: the result would depend on their order. */
function meets({ place: a }: Edit, { place: b }: Edit): boolean {
  return a.file === b.file && a.start <= b.end && b.start <= a.end
}

function edited(text: string, edits: readonly Edit[]): string {
  const plain = withoutMark(text) // Offsets do not count the byte order mark.
  const newline = plain.includes('\r\n') ? '\r\n' : '\n'
  let result = text.slice(0, text.length - plain.length)
  let from = 0
  for (const { place, text: added } of edits.toSorted((a, b) => a.place.start - b.place.start)) {
    result += plain.slice(from, place.start) + added.replaceAll('\n', newline)
    from = place.end
  }
  return result + plain.slice(from)
}

/** Whether the file is valid UTF-8. Other bytes would change when they are written back. */
function isText(file: string): boolean {
  const bytes = fs.readFileSync(file)
  return Buffer.from(bytes.toString('utf8')).equals(bytes)
}
