/** The stack of a project that runs on this machine, found by its record (contract 1.5, 10.3). */
import { stackFiles } from '../../local/files.ts'
import { type LocalRecord, readRecord } from '../../local/record.ts'
import { Failure } from './failure.ts'

/** Reports a record whose process is gone on stderr. @returns `undefined` while no stack of the project runs. */
export async function liveRecord(root: string): Promise<LocalRecord | undefined> {
  const found = await readRecord(stackFiles(root).record)
  if (!found || found.isLive) return found?.record
  process.stderr.write(
    `the record of process ${found.record.pid} is left over: that stack is gone, and the record is ignored\n`,
  )
  return undefined
}

/** @param instead what else the person could do. @throws Failure while no stack of the project runs. */
export async function runningStack(root: string, instead = ''): Promise<LocalRecord> {
  const record = await liveRecord(root)
  if (record) return record
  throw new Failure('no stack', `no stack of this project runs here: \`stack start\` runs one${instead}`)
}
