/**
 * Runs tests in the private copy, as a process of its own: the parent ends it with everything that it started. One vitest serves all
 * runs, because its start costs more than most tests of one file.
 */
import path from 'node:path'
import { createVitest, type Reporter, type TestCase, type TestModule } from 'vitest/node'
import type { Answer, Order } from './runner.ts'

/**
 * Longest time in milliseconds of one test and of one hook: a change that makes the code hang is found sooner than in a normal run.
 * Tests in Node take less than 5 s where both cores are busy, and those of a worker start a stack first.
 */
const longestMs = { node: 20_000, worker: 60_000 }

let failure: Answer | undefined

const reporter: Reporter = {
  onTestCaseResult(test: TestCase) {
    const { state, errors } = test.result()
    if (state !== 'failed') return
    failure ??= { outcome: 'failed', test: test.fullName, message: messageOf(errors) }
    void vitest.cancelCurrentRun('test-failure')
  },
  onTestModuleEnd(module: TestModule) {
    const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())]
    if (errors.length > 0) failure ??= { outcome: 'failed', test: '', message: messageOf(errors) }
  },
}

function messageOf(errors: readonly { message?: string; name?: string }[] | undefined): string {
  return (errors ?? [])
    .map(({ name, message }) => `${name}: ${message}`)
    .join('\n')
    .slice(0, 2_000)
}

const vitest = await createVitest('test', {
  watch: false,
  reporters: [reporter],
  bail: 0,
  maxWorkers: 1,
  fileParallelism: false,
  hookTimeout: longestMs.worker,
  silent: true,
})
await vitest.standalone()

async function run({ file, name, changed }: Order): Promise<Answer> {
  failure = undefined
  for (const one of changed) vitest.invalidateFile(one)
  vitest.clearSpecificationsCache()
  vitest.state.filesMap.clear()
  vitest.state.clearErrors()
  const project = vitest.getRootProject()
  project.config.testTimeout = file.includes(`${path.sep}edge${path.sep}`) ? longestMs.worker : longestMs.node
  const pattern = name === undefined ? undefined : new RegExp(name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const specification = project.createSpecification(file, pattern ? { testNamePattern: pattern } : {})
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications([specification])
  if (failure) return failure
  if (unhandledErrors.length > 0)
    return { outcome: 'failed', test: '', message: messageOf(unhandledErrors as { message: string }[]) }
  const passed = testModules.flatMap((module) => [...module.children.allTests('passed')]).length
  return passed === 0 ? { outcome: 'none' } : { outcome: 'passed', tests: passed }
}

process.on('message', (order: Order) => {
  run(order).then(
    (answer) => process.send!(answer),
    (error: Error) => process.send!({ outcome: 'failed', test: '', message: String(error.stack) } satisfies Answer),
  )
})
process.send!({ outcome: 'ready' } satisfies Answer)
