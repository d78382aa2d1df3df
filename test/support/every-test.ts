/** Runs before every test, and fails it where a report could not show its name. */
import { beforeEach, expect } from 'vitest'

/** Longest name of a test in characters, without the names of its groups: reporters cut longer lines. */
const longestName = 130

beforeEach(({ task }) => {
  expect(task.name.slice(longestName), 'a name this long: see test/support/titles.ts').toBe('')
})
