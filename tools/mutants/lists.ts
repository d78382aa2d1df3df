/** Checks the lists of changes against the code, without running a test. `npm run check` calls it. */
import * as fs from 'node:fs'
import path from 'node:path'
import { type Change, choiceOf, keyOf } from './change.ts'
import { decidingFilesOf, decisionsIn } from './decisions.ts'
import { rooms } from './rooms.ts'

/** The number of decisions and of changes of each deciding file, as they were last recorded. */
type Counts = Record<string, [decisions: number, changes: number]>

const countsFile = 'tools/mutants/counts.json'

/** @returns one sentence for each fault. */
export function faultsOfLists(root: string): string[] {
  return [...faultsOfChanges(root), ...decisionsWithoutChange(root).map(({ sentence }) => sentence)]
}

function faultsOfChanges(root: string): string[] {
  const known = new Set<string>()
  return rooms.flatMap((room) => [
    ...room.tests
      .filter((file) => !fs.existsSync(path.join(root, file)))
      .map((file) => `${room.name}: no file ${file}`),
    ...room.changes.flatMap((change) => {
      const key = keyOf(room, change)
      const faults = faultsOf(root, change).map((fault) => `${key}: ${fault}`)
      if (known.has(key)) faults.push(`${key}: the id stands twice`)
      known.add(key)
      return faults
    }),
  ])
}

function faultsOf(root: string, { file, before, after, gain, tests }: Change): string[] {
  const absolute = path.join(root, file)
  if (!fs.existsSync(absolute)) return [`there is no file ${file}`]
  const times = fs.readFileSync(absolute, 'utf8').split(before).length - 1
  const faults: string[] = []
  if (times !== 1)
    faults.push(`its text stands ${times} times in ${file}, and must stand once: ${JSON.stringify(before)}`)
  if (before === after) faults.push('it changes nothing')
  if (!/^[A-Z].*\.$/.test(gain)) faults.push('its gain is no sentence')
  if (tests.length === 0) faults.push('it names no test')
  for (const entry of tests) {
    const choice = choiceOf(entry)
    const test = path.join(root, choice.file)
    if (!fs.existsSync(test)) faults.push(`there is no file ${choice.file}`)
    else if (choice.name !== undefined && !mayName(fs.readFileSync(test, 'utf8'), choice.name))
      faults.push(`no test of ${choice.file} has the name "${choice.name}"`)
  }
  return faults
}

/** Names that are made of data stand nowhere in the text. */
function mayName(text: string, name: string): boolean {
  return text.includes(name) || /\.each\(|it\.for\(/.test(text)
}

function changesByFile(): Map<string, number> {
  const changes = rooms.flatMap((room) => room.changes)
  return new Map([...Map.groupBy(changes, ({ file }) => file)].map(([file, own]) => [file, own.length]))
}

function recorded(root: string): Counts {
  const file = path.join(root, countsFile)
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {}
}

/** Files that decide more than was recorded, and have no more changes than were recorded. */
function decisionsWithoutChange(root: string): { file: string; sentence: string }[] {
  const before = recorded(root)
  const changes = changesByFile()
  return decidingFilesOf(root).flatMap((file) => {
    const now = decisionsIn(root, file)
    const [decisions, listed] = before[file] ?? [0, 0]
    if (now <= decisions || (changes.get(file) ?? 0) > listed) return []
    const sentence = `${file} decides ${now} times and ${decisions} were recorded: add a change of it to tools/mutants/rooms, then run npm run mutants -- --record`
    return [{ file, sentence }]
  })
}

/**
 * Records the counts of every deciding file.
 * @param isAccepted records also files that owe a change.
 * @returns one sentence for each file that owes one. Without `isAccepted` nothing is recorded then.
 */
export function record(root: string, isAccepted: boolean): string[] {
  const owing = decisionsWithoutChange(root)
  if (owing.length > 0 && !isAccepted) return owing.map(({ sentence }) => sentence)
  const changes = changesByFile()
  const lines = decidingFilesOf(root)
    .sort()
    .map((file) => [file, decisionsIn(root, file), changes.get(file) ?? 0] as const)
    .filter(([, decisions, listed]) => decisions + listed > 0)
    .map(([file, decisions, listed]) => `  ${JSON.stringify(file)}: [${decisions}, ${listed}]`)
  fs.writeFileSync(path.join(root, countsFile), `{\n${lines.join(',\n')}\n}\n`)
  return owing.map(({ sentence }) => sentence)
}
