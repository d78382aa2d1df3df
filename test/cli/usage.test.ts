/** Every wrong command line is exit 2, with a sentence that names the wrong word (contract 10.2, 10.5). The verbs come from the program. */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../cli/program.ts'
import { exitCodes, Failure } from '../../cli/shared/failure.ts'
import type { Verb } from '../../cli/shared/verb.ts'
import { topics } from '../../cli/topics.ts'
import { groups, verbs } from '../../cli/verbs.ts'
import { stack } from '../support/command.ts'

/** Parses a command line in this process. @throws the test's error where it is accepted up to the action. */
async function refusal(args: string[]): Promise<string> {
  const program = createProgram()
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    expect([args, error.exitCode, error.isWhole]).toEqual([args, 2, false])
    return error.message
  }
  throw new Error(`accepted: ${args.join(' ')}`)
}

/** The shortest command line that commander accepts. */
function accepted({ name, positionals = {} }: Verb): string[] {
  const required = Object.keys(positionals).filter((syntax) => syntax.startsWith('<'))
  return [...name.split(' '), ...required.map((_, index) => `word${index}`)]
}

/** As many words as the verb takes. */
function full({ name, positionals = {} }: Verb): string[] {
  return [...name.split(' '), ...Object.keys(positionals).map((_, index) => `word${index}`)]
}

const named = verbs.map((verb): [string, Verb] => [verb.name, verb])
const valued = ({ options }: Verb) => options.filter(({ required }) => required)
const usage = ({ name }: Verb) => `Usage: stack ${name} [options]`

describe.each(named)('stack %s', (name, verb) => {
  it('refuses a superfluous word, also after --', async () => {
    for (const words of [['superfluous'], ['--', 'superfluous'], ['--', '--json']]) {
      const sentence = await refusal([...full(verb), ...words])
      const shown = verb.isSecret ? 'what follows the name is not shown' : JSON.stringify(words.at(-1))
      expect(sentence).toContain(`Unexpected: ${shown}`)
      expect(sentence).toContain(usage(verb))
    }
  })

  it('refuses a superfluous word, and suggests the flag that it resembles', async () => {
    for (const { long } of verb.isSecret ? [] : verb.options) {
      const word = long!.slice(2)
      expect(await refusal([...full(verb), word])).toContain(`(Did you mean ${long}?)`)
    }
  })

  it('refuses an unknown flag, and suggests the one that it resembles', async () => {
    const unknown = await refusal([...full(verb), '--no-such-flag'])
    expect(unknown).toMatch(/^unknown option '?--no-such-flag/)
    expect(unknown).toContain(usage(verb))
    for (const { long } of verb.options) {
      const typed = `${long!.slice(0, -1)}${long!.at(-1)}${long!.at(-1)}`
      expect(await refusal([...accepted(verb), typed])).toContain(`(Did you mean ${long}?)`)
    }
  })

  it('refuses a flag without its value, also where another flag comes next', async () => {
    for (const { long, flags } of valued(verb)) {
      for (const words of [[long!], [long!, '--project'], [long!, '--unknown'], [long!, '--help']]) {
        const sentence = await refusal([...accepted(verb), ...words])
        expect(sentence).toContain(`option '${flags}' argument`)
        expect(sentence).toContain(usage(verb))
      }
    }
  })

  it('refuses an empty value', async () => {
    for (const { long, flags } of valued(verb)) {
      for (const words of [[`${long}=`], [long!, ''], [long!, ' ']]) {
        const sentence = await refusal([...accepted(verb), ...words])
        expect(sentence).toContain(`option '${flags}' argument`)
        expect(sentence).toContain(usage(verb))
      }
    }
  })

  it('refuses a value that is given twice', async () => {
    const values: Record<string, string> = {
      format: 'json',
      port: '8787',
      limit: '1',
      outcome: 'handled',
      timeout: '5',
      plan: 'free',
      'new-keys': 'claims',
      wait: '5',
      workers: '2',
      grace: '5',
      'metrics-port': '9464',
    }
    for (const { long, flags } of valued(verb)) {
      const value = values[long!.slice(2)] ?? 'value'
      const sentence = await refusal([...accepted(verb), long!, value, `${long}=${value}`])
      expect(sentence).toBe(`option '${flags}' is given twice. ${await usageLine(verb)}`)
    }
  })

  it('refuses a positional argument that is missing or empty', async () => {
    const required = accepted(verb).length - name.split(' ').length
    if (required > 0) expect(await refusal(accepted(verb).slice(0, -1))).toMatch(/^missing required argument '/)
    const words = full(verb)
    for (let index = name.split(' ').length; index < words.length; index++) {
      const sentence = await refusal(words.toSpliced(index, 1, ''))
      expect(sentence).toMatch(/^argument '.*' is empty\. Usage: stack /)
    }
  })

  it('has a help with examples of itself, and a line of the same style in the help above it', () => {
    expect(verb.examples.filter((example) => !example.startsWith(`stack ${name}`))).toEqual([])
    const lines = [verb.summary, ...verb.options.map(({ description }) => description)]
    expect(lines.filter((line) => !/^[a-z]/.test(line) || line.endsWith('.') || line.includes(';'))).toEqual([])
    for (const example of verb.examples) {
      const flags = [...example.matchAll(/ (--[a-z-]+)/g)].map(([, flag]) => flag)
      expect(verb.options.map(({ long }) => long)).toEqual(expect.arrayContaining(flags))
    }
  })

  async function usageLine(one: Verb): Promise<string> {
    const sentence = await refusal([...full(one), '--no-such-flag'])
    return /Usage: .*/.exec(sentence)![0]
  }
})

it('10.1 every verb that prints a result has --json, and none takes a payload by it', () => {
  const others = verbs.filter(({ name }) => !name.startsWith('auth ')) // there `--json` carries the document
  const without = others.filter(({ options }) => !options.some(({ long }) => long === '--json')).map(({ name }) => name)
  expect(without).toEqual(['login', 'logout', 'secret set', 'secret unset']) // they print nothing on stdout
  const payloads = others.flatMap(({ options }) =>
    options.filter(({ long, required }) => long === '--json' && required),
  )
  expect(payloads).toEqual([])
})

it('every word that leads to verbs has a line of help', () => {
  const paths = verbs.flatMap(({ name }) => {
    const words = name.split(' ')
    return words.slice(1).map((_, index) => words.slice(0, index + 1).join(' '))
  })
  const described = groups.flatMap(({ summaries }) => Object.keys(summaries))
  const groupPaths = [...new Set(paths)].filter((path) => !verbs.some(({ name }) => name === path))
  expect(described.sort()).toEqual(groupPaths.sort())
})

describe('a word that leads to no verb', () => {
  it.each([
    [
      ['frobnicate'],
      "unknown command 'frobnicate'. Usage: stack <build|explain|start|init|push|serve|env|login|logout|link|auth|roles|operators|secret|token|devices|webhooks|cron|completion|help>",
    ],
    [['webhook', 'list'], "unknown command 'webhook'\n(Did you mean webhooks?)\nUsage: stack <"],
    [['deliveries'], "unknown command 'deliveries'. Usage: stack <build|"],
    [['deliveries'], '(Did you mean stack webhooks deliveries?)'],
    [['webhooks', 'frob'], "unknown command 'frob'. Usage: stack webhooks <list|send|deliveries|replay>"],
    [['webhooks', '--', 'frob'], "unknown command 'frob'"],
    [['webhooks', 'lisst'], '(Did you mean list?)'],
    [['secret', 'NAME=canary'], 'unknown command. Usage: stack secret <set|list|unset>'],
    [['--json', 'build'], "unknown option '--json'"],
    [['webhooks', 'list', 'deliveries'], '(Did you mean stack webhooks deliveries?)'],
    [['webhooks', 'send', 'payments', 'x', '--json', '{}'], '(a payload is given by --data)'],
    [['build', '--json', '--format', 'text'], "option '--json' cannot be used with option '--format <format>'"],
    [['start', '--port', '0'], "option '--port <number>' argument '0' is invalid: a whole number from 1 to 65535"],
    [['help', 'frob'], "there is no help for 'frob'. Usage: stack <build|"],
    [['help', 'biuld'], '(Did you mean build?)'],
    [['help', 'exit-code'], '(Did you mean exit-codes?)'],
    [['help', 'build', 'extra'], "there is no help for 'extra'. Usage: stack build [options]"],
    [['help', 'exit-codes', 'extra'], "too many arguments for 'help exit-codes': extra"],
    [['help', '--frob'], "unknown option '--frob'. Usage: stack help [command...]"],
    [['webhooks', 'help', 'frob'], "there is no help for 'frob'"],
  ])('%j', async (args, sentence) => {
    const message = await refusal(args)
    expect(message).toContain(sentence)
    expect(message).not.toContain('canary')
  })

  it('is refused by the process too, on stderr alone', async () => {
    const superfluous = await stack(['--version', 'extra'])
    expect([superfluous.code, superfluous.stdout]).toEqual([2, ''])
    expect(superfluous.stderr).toContain("error: too many arguments for '--version': extra")
    const group = await stack(['webhooks'])
    expect([group.code, group.stdout]).toEqual([2, ''])
    expect(group.stderr).toContain('$ stack webhooks list\n')
  })
})

describe('help', () => {
  it.each([['exit-codes'], ['environment'], ['build'], ['webhooks send'], ['webhooks'], ['help']])(
    'stack help %s: exit 0, with an example',
    async (words) => {
      const { code, stdout, stderr } = await stack(['help', ...words.split(' ')])
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/\nExamples:\n(?: {2}\$ .*stack .*\n)+/)
    },
  )

  it('names every exit code', () => {
    const numbers = [...topics['exit-codes']!.matchAll(/^ {2}(\d+)/gm)].map(([, number]) => Number(number))
    expect(numbers).toEqual([0, ...new Set(Object.values(exitCodes))])
  })
})

it('stack help environment names every variable that the command reads', () => {
  const root = path.resolve(import.meta.dirname, '../..')
  const sources = fs.readdirSync(path.join(root, 'cli'), { recursive: true, encoding: 'utf8' })
  const read = sources
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [
      ...fs
        .readFileSync(path.join(root, 'cli', name), 'utf8')
        .matchAll(/(?:process\.env\[|fromEnvironment\()'([A-Z_]+)'/g),
    ])
    .map(([, name]) => name!)
  expect(new Set(read).size).toBeGreaterThan(2)
  expect([...new Set(read), 'NO_COLOR'].filter((name) => !topics['environment']!.includes(`  ${name} `))).toEqual([])
})

describe('stack explain --json', () => {
  it('prints every part of a refusal, and all refusals', async () => {
    const one = await stack(['explain', 'user-on-public-route', '--json'])
    expect(one.code).toBe(0)
    expect(one.stdout).toBe(`${JSON.stringify(JSON.parse(one.stdout), undefined, 2)}\n`)
    const all = JSON.parse((await stack(['explain', '--json'])).stdout).data as Record<string, unknown>[]
    expect(all).toContainEqual(JSON.parse(one.stdout))
    const parts = ['accepted', 'output', 'refused', 'severity', 'slug', 'summary', 'why']
    for (const refusal of all) {
      expect(Object.keys(refusal).sort()).toEqual(parts)
      expect(Object.values(refusal).filter((part) => typeof part !== 'string' || part === '')).toEqual([])
    }
  })
})
