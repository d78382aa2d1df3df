/** Makes small hostile changes to the code, one at a time, and tells which of them no test notices. */
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Change, choiceOf, keyOf, type Room } from './change.ts'
import { copyRepository } from './copy.ts'
import { faultsOfLists, record } from './lists.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { writeTable } from './page.ts'
import { propose } from './propose.ts'
import { rooms } from './rooms.ts'
import { createRunner } from './runner.ts'

const root = path.resolve(import.meta.dirname, '../..')
const stateFile = path.join(root, '.mutants/outcomes.json')

const help = `usage: npm run mutants [-- <room> …] [options]

Makes small hostile changes to a copy of the code, one at a time, and tells which of them no test notices.

  --id <part>        only changes whose id has this part
  --again            also changes whose outcome is known
  --expected         only the tests that a change names, without the others of its room
  --cheap            only changes that need no worker
  --copy <name>      runs in a copy of its own, beside another run
  --list             every change with its sentence, and what became of it
  --propose <file>   candidates for a list
  --record           the counts of \`npm run check\`; with --accept also where a file owes a change
  --table            the table of docs/mutants.md, from the outcomes that are known

rooms: ${rooms.map(({ name }) => name).join(' ')}
`

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    id: { type: 'string' },
    again: { type: 'boolean', default: false },
    expected: { type: 'boolean', default: false },
    cheap: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    accept: { type: 'boolean', default: false },
    propose: { type: 'string' },
    table: { type: 'boolean', default: false },
    copy: { type: 'string', default: 'default' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

/**
 * An outcome counts as long as the change and its file are the same. A survivor is tried again after the tests that it names have changed;
 * what was noticed once is tried again only by `--again`.
 */
interface Known extends Outcome {
  hash: string
  /** Digest of the tests that the change names: a survivor is tried again after they have changed. */
  tests: string
  /** It survived the tests that it names, and the others of its room did not run: a run without `--expected` tries it again. */
  isPartial?: boolean
}

const digest = (parts: readonly string[]) => createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16)

/** @param folder the repository, or the copy in which the tests run: the user may edit files meanwhile. */
function stampOf({ before, after, file, tests }: Change, folder: string): Pick<Known, 'hash' | 'tests'> {
  const read = (name: string) => fs.readFileSync(path.join(folder, name), 'utf8')
  return {
    hash: digest([before, after, read(file)]),
    tests: digest([...tests, ...tests.map((test) => read(choiceOf(test).file))]),
  }
}

function isCurrent(known: Known | undefined, change: Change, folder: string): known is Known {
  const { hash, tests } = stampOf(change, folder)
  const wasNoticed = known?.outcome === 'killed' || known?.outcome === 'timed out'
  return known?.hash === hash && (wasNoticed || known.tests === tests)
}

const readState = (): Record<string, Known> =>
  fs.existsSync(stateFile) ? JSON.parse(fs.readFileSync(stateFile, 'utf8')) : {}

function keep(key: string, outcome: Known): void {
  fs.mkdirSync(path.dirname(stateFile), { recursive: true })
  const unfinished = `${stateFile}.${process.pid}`
  fs.writeFileSync(unfinished, JSON.stringify({ ...readState(), [key]: outcome }, undefined, 1)) // another run may write as well
  fs.renameSync(unfinished, stateFile)
}

function chosenRooms(): Room[] {
  const unknown = positionals.find((name) => !rooms.some((room) => room.name === name))
  if (unknown !== undefined)
    throw new Error(`there is no room "${unknown}": there are ${rooms.map(({ name }) => name).join(', ')}`)
  return rooms
    .filter(({ name }) => positionals.length === 0 || positionals.includes(name))
    .map((room) => ({ ...room, changes: room.changes.filter(({ id }) => id.includes(flags.id ?? '')) }))
}

function list(): void {
  const state = readState()
  for (const room of chosenRooms())
    for (const change of room.changes) {
      const known = state[keyOf(room, change)]
      const outcome = change.equivalent ? 'equivalent' : isCurrent(known, change, root) ? known.outcome : 'not run'
      console.log(`${outcome.padEnd(10)} ${keyOf(room, change)}: ${change.gain}`)
    }
}

async function run(): Promise<void> {
  const chosen = chosenRooms()
  const copy = copyRepository(root, flags.copy)
  const runner = createRunner(copy)
  const sound = new Set<string>()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void runner.stop().then(() => process.exit(130)))
  try {
    for (const room of chosen)
      for (const change of room.changes) {
        const key = keyOf(room, change)
        const known = readState()[key]
        const isKnown = isCurrent(known, change, copy.root) && (!known.isPartial || flags.expected)
        if (change.equivalent || (!flags.again && isKnown)) continue
        if (flags.cheap && choiceOf(change.tests[0]!).file.startsWith('test/edge/')) continue
        const outcome = await outcomeOf(room, change, copy, runner, flags.expected, sound)
        keep(key, {
          ...outcome,
          ...stampOf(change, copy.root),
          isPartial: flags.expected && outcome.outcome === 'survived',
        })
        const by = outcome.by ? ` by ${outcome.by}` : ''
        const why = outcome.outcome === 'invalid' ? ` ${outcome.message}` : ''
        console.log(`${outcome.outcome.padEnd(9)} ${key} (${outcome.ms} ms)${by}${why}`)
      }
  } finally {
    await runner.stop()
  }
  summarise(chosen)
}

function summarise(chosen: readonly Room[]): void {
  const state = readState()
  for (const room of chosen)
    for (const change of room.changes) {
      const known = state[keyOf(room, change)]
      if (known?.outcome === 'survived' && !change.equivalent)
        console.log(
          `\n${keyOf(room, change)} survived: ${change.gain}\n  ${change.file}\n- ${change.before}\n+ ${change.after}`,
        )
    }
  writeTable(root, rooms, current(state))
}

/** The outcomes of changes as they are now. */
function current(state: Record<string, Known>): Record<string, Outcome> {
  return Object.fromEntries(
    rooms.flatMap((room) =>
      room.changes.flatMap((change) => {
        const known = state[keyOf(room, change)]
        return isCurrent(known, change, root) && !known.isPartial ? [[keyOf(room, change), known] as const] : []
      }),
    ),
  )
}

function refuse(faults: readonly string[]): void {
  if (faults.length === 0) return
  console.error(faults.join('\n'))
  process.exit(1)
}

/** Records how much each deciding file decides. Without `--accept` it refuses where a file owes a change. */
function recordCounts(): void {
  const owing = record(root, flags.accept)
  if (flags.accept) console.log(owing.join('\n'))
  else refuse(owing)
}

if (flags.help) process.stdout.write(help)
else if (flags.propose !== undefined) propose(root, flags.propose)
else if (flags.record) recordCounts()
else if (flags.table) writeTable(root, rooms, current(readState()))
else if (flags.list) list()
else {
  refuse(faultsOfLists(root).filter((fault) => !fault.includes('were recorded')))
  await run()
}
