/** One small change that makes the code worse, and the tests that must notice it. */
export interface Change {
  /** Unique within its room. */
  id: string
  /** Path relative to the root of the repository. */
  file: string
  /** Text that stands exactly once in the file. */
  before: string
  after: string
  /** Says in one sentence what an attacker or a careless colleague would gain. */
  gain: string
  /**
   * Tests that are expected to fail, the cheapest first: the path of a file. After ` > ` stands a part of a test's name, where the
   * other tests of the file need not run.
   */
  tests: string[]
  /** Why no test can notice the change. Such a change is not run, and does not count. */
  equivalent?: string
}

/** The changes of one part of the code. */
export interface Room {
  name: string
  /** Files of tests that run where the expected tests of a change pass, the cheapest first. */
  tests: string[]
  changes: Change[]
}

/** One entry of `Change.tests`. */
export interface TestChoice {
  file: string
  /** Part of a test's name. Absent: the whole file runs. */
  name?: string
}

export function choiceOf(entry: string): TestChoice {
  const [file = '', ...name] = entry.split(' > ')
  return name.length === 0 ? { file } : { file, name: name.join(' > ') }
}

export const keyOf = (room: Room, change: Change) => `${room.name}/${change.id}`
