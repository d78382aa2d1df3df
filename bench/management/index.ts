/** Measures whether lists of the management surface grow with their tables, and what its writes cost beside SQL by hand. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { benchLists, target } from './lists.ts'
import { fillTables } from './rows.ts'
import { type ManagedStack, startManagedStack } from './stack.ts'
import { benchWrites } from './writes.ts'

/** Rows of each table: those of a young stack, and those of one whose pages are read by index or not at all. */
const sizes = { few: 1_000, many: 500_000 }

export async function benchManagement(): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-bench-'))
  const stacks: ManagedStack[] = []
  const start = async (rows: number): Promise<ManagedStack> => {
    const stack = await startManagedStack(path.join(folder, `rows-${rows}`))
    stacks.push(stack)
    await fillTables(stack.ownerUrl, rows)
    return stack
  }
  try {
    const began = performance.now()
    const [few, many] = [await start(sizes.few), await start(sizes.many)]
    console.log(`\nboth stacks are filled after ${((performance.now() - began) / 1_000).toFixed(0)} s`)
    console.log(
      `a page of each list at ${sizes.few.toLocaleString('en')} → ${sizes.many.toLocaleString('en')} rows; medians of interleaved rounds`,
    )
    const slow = await benchLists(few, many)
    console.log(`  ${slow.length === 0 ? 'every list' : `not ${slow.join(', ')}: the others`} < ${target} ×`)
    await benchWrites(many)
  } finally {
    for (const stack of stacks.reverse()) await stack.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
