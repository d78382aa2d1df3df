/**
 * Reads the lists of changes: one file a room, in `rooms/`. They are plain text, because the exact text of code stands in them.
 *
 * ```
 * verify = test/runtime/verify.test.ts      a short name of a test file
 * tests verify tokens                       files that run where the expected tests of a change pass
 *
 * @ runtime/identity/verify.ts              the file of the changes below
 * ? verify                                  the tests that are expected to notice them
 *
 * expiry-ignored                            one change: its id
 * - if (exp <= now) return 'expired'        the lines that stand once in the file
 * + if (false) return 'expired'             the lines in their place
 * > A stolen token works for ever.          what an attacker or a careless colleague would gain
 * ? verify > exp now                        its own tests, each with a part of a name or without
 * = …                                       why no test can notice the change, if so
 * ```
 */
import * as fs from 'node:fs'
import path from 'node:path'
import type { Change, Room } from './change.ts'

const folder = path.join(import.meta.dirname, 'rooms')

/** The order in which rooms run: those that decide most come first. */
const order = ['identity', 'requests', 'database', 'webhooks', 'build']

export const rooms: readonly Room[] = fs
  .readdirSync(folder)
  .filter((file) => file.endsWith('.txt'))
  .map((file) => readRoom(file.slice(0, -'.txt'.length), fs.readFileSync(path.join(folder, file), 'utf8')))
  .sort((one, other) => rankOf(one) - rankOf(other) || one.name.localeCompare(other.name))

function rankOf({ name }: Room): number {
  const index = order.indexOf(name)
  return index === -1 ? order.length : index
}

/** @throws Error with the line that cannot be read. */
function readRoom(name: string, text: string): Room {
  const short = new Map<string, string>()
  const fileOf = (entry: string) => {
    const [file = '', ...rest] = entry.split(' > ')
    return [short.get(file) ?? file, ...rest].join(' > ')
  }
  const room: Room = { name, tests: [], changes: [] }
  let file = ''
  let tests: string[] = []
  const blocks = text.replaceAll('\r\n', '\n').split(/\n{2,}/)
  for (const block of blocks) {
    const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    const first = lines[0]
    if (first === undefined) continue
    if (first.startsWith('@ ')) {
      file = first.slice(2)
      tests = marked(lines, '?').map(fileOf)
    } else if (first.includes(' = ') || first.startsWith('tests ')) {
      for (const line of lines) {
        const [, alias, long] = /^([\w-]+) = (\S+)$/.exec(line) ?? []
        if (alias !== undefined) short.set(alias, long!)
        else if (line.startsWith('tests ')) room.tests.push(...line.slice(6).split(' ').map(fileOf))
        else throw new Error(`${name}.txt: no short name of a test: ${line}`)
      }
    } else room.changes.push(changeOf(name, lines, file, tests, fileOf))
  }
  return room
}

function changeOf(
  room: string,
  [id = '', ...lines]: string[],
  file: string,
  tests: string[],
  fileOf: (entry: string) => string,
): Change {
  const stray = lines.find((line) => !/^[-+>?=]/.test(line))
  if (stray !== undefined || !/^[\w-]+$/.test(id)) throw new Error(`${room}.txt: cannot read ${stray ?? id}`)
  const [equivalent] = marked(lines, '=')
  const own = marked(lines, '?').map(fileOf)
  return {
    id,
    file,
    before: marked(lines, '-').join('\n'),
    after: marked(lines, '+').join('\n'),
    gain: marked(lines, '>').join(' '),
    tests: own.length > 0 ? own : tests,
    ...(equivalent === undefined ? {} : { equivalent }),
  }
}

/** The rest of each line that begins with the mark. One blank after the mark does not count. */
function marked(lines: readonly string[], mark: string): string[] {
  return lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(1).replace(/^ /, ''))
}
