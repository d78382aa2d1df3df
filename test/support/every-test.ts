/** Runs beside every test: its name must be one that a report can show. */
import { beforeEach, expect } from 'vitest'

/** Characters of a test's own name, without those of its groups. */
const longestName = 130

beforeEach(({ task }) => {
  expect(task.name.slice(longestName), 'a name this long: see test/support/titles.ts').toBe('')
})
