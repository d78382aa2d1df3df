/** Runs the tests of one change: those that are expected to notice it first, then the others of its room. */

import * as fs from 'node:fs'
import path from 'node:path'
import { transform } from 'esbuild'
import { type Change, choiceOf, type Room, type TestChoice } from './change.ts'
import type { Copy } from './copy.ts'
import type { Answer, Runner } from './runner.ts'

export interface Outcome {
  /** `invalid`: the change does not compile, so the tests learn nothing of it. */
  outcome: 'killed' | 'survived' | 'timed out' | 'invalid'
  /** The test that failed, and what it said. */
  by?: string
  message?: string
  ms: number
}

/** Longest time in milliseconds of one file of tests: the slowest takes three minutes on two idle cores. */
const longestMs = 240_000

/** Messages of a stack or a build that does not start because the changed text cannot be read. */
const unreadable = /Transform failed|Build failed|the project was refused|syntax error|SyntaxError|does not parse/

/** Controllers have decorators of parameters, which esbuild reads in this form alone. */
const tsconfigRaw = { compilerOptions: { experimentalDecorators: true } }

/** @param sound tests that were found to pass without a change: it grows. */
export async function outcomeOf(
  { tests }: Room,
  change: Change,
  copy: Copy,
  runner: Runner,
  isExpectedOnly: boolean,
  sound: Set<string>,
): Promise<Outcome> {
  const began = performance.now()
  const done = (outcome: Omit<Outcome, 'ms'>): Outcome => ({ ...outcome, ms: Math.round(performance.now() - began) })
  const takeBack = copy.change(change.file, change.before, change.after)
  try {
    const fault = await syntaxFault(path.join(copy.root, change.file))
    if (fault) return done({ outcome: 'invalid', message: fault })
    const expected = change.tests.map(choiceOf)
    const others = isExpectedOnly ? [] : tests.map((file) => ({ file })).filter((other) => !isAmong(expected, other))
    for (const choice of [...expected, ...others]) {
      const answer = await runner.run(choice, [change.file], longestMs)
      if (answer.outcome === 'lost') throw new Error('the process of the tests ended: run again')
      if (answer.outcome === 'timeout') return done({ outcome: 'timed out', by: choice.file })
      if (answer.outcome === 'none') return done({ outcome: 'invalid', message: `${choice.file} runs no test` })
      if (answer.outcome === 'failed') {
        takeBack()
        const why = await unsoundness(choice, runner, sound)
        return why === undefined ? done(failed(choice, answer)) : done({ outcome: 'invalid', message: why })
      }
    }
    return done({ outcome: 'survived' })
  } finally {
    takeBack()
  }
}

/** A test that fails without the change tells nothing. @param sound tests that were found to pass. */
async function unsoundness(choice: TestChoice, runner: Runner, sound: Set<string>): Promise<string | undefined> {
  const key = `${choice.file} ${choice.name ?? ''}`
  if (sound.has(key)) return undefined
  const answer = await runner.run(choice, [], longestMs)
  if (answer.outcome !== 'passed')
    return `${key} does not pass without the change: ${JSON.stringify(answer).slice(0, 300)}`
  sound.add(key)
  return undefined
}

const isAmong = (choices: readonly TestChoice[], { file }: TestChoice) =>
  choices.some((one) => one.file === file && one.name === undefined)

function failed({ file }: TestChoice, { test, message }: Answer & { outcome: 'failed' }): Omit<Outcome, 'ms'> {
  const isUnread = test === '' && unreadable.test(message)
  return {
    outcome: isUnread ? 'invalid' : 'killed',
    by: test === '' ? file : `${file} > ${test}`,
    message: message.slice(0, 300),
  }
}

async function syntaxFault(file: string): Promise<string | undefined> {
  if (!file.endsWith('.ts')) return undefined
  try {
    await transform(fs.readFileSync(file, 'utf8'), { loader: 'ts', tsconfigRaw })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
