/** Every verb as a row: its name, its flags, what runs. What a verb needs is imported when it runs. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { BuildFlags } from './build.ts'
import { Failure } from './failure.ts'
import type { DeliveriesFlags } from './webhooks/deliveries.ts'

export interface Verb {
  /** Of two words: the second is a command of the first. */
  name: string
  /** Positional arguments, as commander writes them. */
  arguments?: string[]
  summary: string
  options: Option[]
  examples: string[]
  /** A word of its command line may be a secret's value: none is printed. */
  isSecret?: true
  /** @param flags as commander parsed them, by the names of the options. */
  run(flags: Record<string, unknown>, ...given: (string | undefined)[]): Promise<void>
}

const project = () =>
  new Option('--project <dir>', 'the project; default: the nearest folder upwards with stack/project.json')

const env = () => new Option('--env <name>', 'an environment of stack/project.json; default: the local stack that runs')

const json = () => new Option('--json', 'print JSON')

const secretEnv = () =>
  new Option(
    '--secret-env <variable>',
    "sign with the secret (or the private key) in this environment variable; default: the secret's line in .dev.vars",
  )

export const verbs: Verb[] = [
  {
    name: 'build',
    summary: 'compile the project into .stack/: every wrong declaration is refused, at once',
    options: [
      project(),
      new Option('--out <dir>', 'write there instead of .stack'),
      new Option('--format <format>', 'how refusals are printed')
        .choices(['text', 'json', 'github', 'sarif'])
        .default('text'),
      new Option('--fix', 'apply every fix that is exact, then build'),
      new Option('--watch', 'build again at every change, until Ctrl-C'),
    ],
    examples: ['stack build', 'stack build --fix', 'stack build --watch', 'stack build --format sarif > stack.sarif'],
    run: async (flags) => (await import('./build.ts')).runBuild(flags as unknown as BuildFlags),
  },
  {
    name: 'explain',
    arguments: ['[slug]'],
    summary: 'say what a refusal means, why it is one, and what is accepted; without a slug, list them all',
    options: [],
    examples: ['stack explain user-on-public-route', 'stack explain'],
    run: async (_flags, slug) => (await import('./explain.ts')).runExplain(slug),
  },
  {
    name: 'start',
    summary: 'run the project here: workerd and a real Postgres on loopback, until Ctrl-C',
    options: [
      project(),
      new Option('--port <number>', 'listen there; taken: exit 3. Default: 8787, or the next that is free').argParser(
        wholeNumber(1, 65535),
      ),
      new Option('--json', 'print one JSON object when ready, then the log as JSON lines'),
      new Option('--fresh', 'forget the local database and its keys first'),
    ],
    examples: ['stack start', 'stack start --port 8790 --fresh'],
    run: async (flags) => (await import('./start.ts')).runStart(flags),
  },
  {
    name: 'webhooks list',
    summary: 'list what is mounted, where each secret comes from, and the event keys that are bound',
    options: [project(), json()],
    examples: ['stack webhooks list', 'stack webhooks list --json'],
    run: async (flags) => (await import('./webhooks/list.ts')).runList(flags),
  },
  {
    name: 'webhooks send',
    arguments: ['<name>', '<event>'],
    summary: 'send a signed delivery to the local stack, as the provider would: no account, no network',
    options: [
      project(),
      new Option(
        '--data <payload>',
        'the payload, or the part of it that the handler reads: JSON, @file, or @- for standard input',
      ),
      secretEnv(),
      new Option('--json <payload>').hideHelp().argParser(() => {
        throw new InvalidArgumentError('a payload is given by --data.')
      }),
    ],
    examples: [
      `stack webhooks send payments payment.succeeded --data '{"data":{"order":1}}'`,
      `stack webhooks send codehost issues.opened --data '{"issue":{"number":7}}'`,
      'stack webhooks send payments invoice.paid --data @invoice.json',
      'stack webhooks send slack block_actions --secret-env SLACK_SECRET',
    ],
    run: async (flags, name, event) => (await import('./webhooks/send.ts')).runSend(flags, name!, event!),
  },
  {
    name: 'webhooks deliveries',
    arguments: ['[name]'],
    summary: 'list the deliveries of webhooks with `record: true`, the newest first',
    options: [
      project(),
      json(),
      new Option('--limit <number>', 'largest number of deliveries').argParser(wholeNumber(1, 500)).default(20),
      new Option('--outcome <outcome>', 'only those that ended so').choices([
        'handled',
        'unhandled',
        'duplicate',
        'handshake',
        'failed',
        'refused',
      ]),
    ],
    examples: [
      'stack webhooks deliveries',
      'stack webhooks deliveries payments --limit 5 --json',
      'stack webhooks deliveries --outcome failed',
    ],
    run: async (flags, name) =>
      (await import('./webhooks/deliveries.ts')).runDeliveries(flags as unknown as DeliveriesFlags, name),
  },
  {
    name: 'webhooks replay',
    arguments: ['<dlv_id>'],
    summary: 'send a recorded delivery to the local stack again, byte for byte, signed anew',
    options: [
      project(),
      new Option('--as-received', 'with the time that it came with: what is older than 300 s is refused as stale'),
      new Option('--force', 'run the handler again where `dedupe: true` would take the delivery for a copy'),
      secretEnv(),
    ],
    examples: [
      'stack webhooks replay dlv_01KAKP7T4Z8Q6N3V5XWY2RSTUV',
      'stack webhooks replay dlv_01KAKP7T4Z8Q6N3V5XWY2RSTUV --force',
    ],
    run: async (flags, id) => (await import('./webhooks/replay.ts')).runReplay(flags, id!),
  },
  {
    name: 'secret set',
    arguments: ['<NAME|NAME=value>'],
    summary: 'store a secret in the vault of a stack: from standard input, or as <NAME>=<value>',
    options: [
      project(),
      env(),
      new Option('--stdin', 'read the value from standard input; one trailing newline is stripped'),
    ],
    examples: ['stack secret set PAYMENTS_SECRET --stdin < secret.txt', 'stack secret set REGION=eu --env staging'],
    isSecret: true,
    run: async (flags, name) => (await import('./secret/set.ts')).runSet(flags, name!),
  },
  {
    name: 'secret list',
    summary: 'list the names in the vault, and when they were written; never a value',
    options: [project(), env()],
    examples: ['stack secret list', 'stack secret list --env staging'],
    run: async (flags) => (await import('./secret/list.ts')).runList(flags),
  },
  {
    name: 'secret unset',
    arguments: ['<name>'],
    summary: 'remove a secret from the vault',
    options: [project(), env()],
    examples: ['stack secret unset PAYMENTS_SECRET'],
    isSecret: true,
    run: async (flags, name) => (await import('./secret/unset.ts')).runUnset(flags, name!),
  },
]

const groups: Record<string, string> = {
  webhooks: 'see, send and repeat inbound webhooks',
  secret: 'what the backend reads from its environment, sealed in the vault of each stack',
}

export function addVerb(program: Command, verb: Verb): void {
  const [group, word] = verb.name.split(' ') as [string, string?]
  const command = word === undefined ? program.command(group) : groupIn(program, group).command(word)
  command.summary(verb.summary).description(verb.summary)
  for (const option of verb.options) command.addOption(option)
  for (const argument of verb.arguments ?? []) command.argument(argument)
  command.addHelpText('after', `\nExamples:\n${verb.examples.map((example) => `  $ ${example}`).join('\n')}`)
  const count = verb.arguments?.length ?? 0
  command.allowExcessArguments() // they are refused below, in words that name them
  if (verb.isSecret) command.allowUnknownOption() // commander would print one, and it may be the value
  // commander passes the arguments, then the flags, then the command itself
  command.action((...passed: unknown[]) => {
    refuseExcess(verb, command, count)
    return verb.run(passed[count] as Record<string, unknown>, ...(passed.slice(0, count) as (string | undefined)[]))
  })
}

/** @throws Failure for a word that the verb does not take. */
function refuseExcess({ name, isSecret }: Verb, command: Command, count: number): void {
  const usage = `Usage: stack ${name} ${command.usage()}`
  const unknown = isSecret && command.args.find((word) => word.startsWith('-'))
  if (unknown) {
    const shown = /^--?[a-z][a-z-]{0,15}$/.test(unknown) ? ` ${unknown}` : ''
    throw new Failure('usage', `unknown option${shown}. ${usage}`)
  }
  const [excess] = command.args.slice(count)
  if (excess === undefined) return
  const shown = isSecret ? 'what follows the name is not shown, for it may be the value' : JSON.stringify(excess)
  const expected = `Expected ${count} argument${count === 1 ? '' : 's'} but got ${command.args.length}`
  throw new Failure('usage', `too many arguments for '${command.name()}'. ${expected}. Unexpected: ${shown}. ${usage}`)
}

function groupIn(program: Command, name: string): Command {
  const known = program.commands.find((command) => command.name() === name)
  return known ?? program.command(name).summary(groups[name]!).description(groups[name]!)
}

function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (/^[0-9]{1,5}$/.test(text) && number >= from && number <= to) return number
    throw new InvalidArgumentError(`a whole number from ${from} to ${to} is needed.`)
  }
}
