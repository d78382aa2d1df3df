/** Every verb as a row: its name, its flags, what runs. What a verb needs is imported when it runs. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { BuildFlags } from './build.ts'

export interface Verb {
  name: string
  /** A positional argument, as commander writes it. */
  argument?: string
  summary: string
  options: Option[]
  examples: string[]
  /** @param flags as commander parsed them, by the names of the options. */
  run(flags: Record<string, unknown>, argument?: string): Promise<void>
}

const project = () =>
  new Option('--project <dir>', 'the project; default: the nearest folder upwards with stack/project.json')

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
    examples: ['stack build', 'stack build --fix', 'stack build --watch', 'stack build --format sarif 2> stack.sarif'],
    run: async (flags) => (await import('./build.ts')).runBuild(flags as unknown as BuildFlags),
  },
  {
    name: 'explain',
    argument: '[slug]',
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
        portNumber,
      ),
      new Option('--json', 'print one JSON object when ready, then the log as JSON lines'),
      new Option('--fresh', 'forget the local database and its keys first'),
    ],
    examples: ['stack start', 'stack start --port 8790 --fresh'],
    run: async (flags) => (await import('./start.ts')).runStart(flags),
  },
]

export function addVerb(program: Command, { name, argument, summary, options, examples, run }: Verb): void {
  const command = program.command(name).summary(summary).description(summary)
  for (const option of options) command.addOption(option)
  command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`)
  if (argument === undefined) command.action((flags: Record<string, unknown>) => run(flags))
  else
    command.argument(argument).action((value: string | undefined, flags: Record<string, unknown>) => run(flags, value))
}

function portNumber(text: string): number {
  const port = Number(text)
  if (/^[0-9]{1,5}$/.test(text) && port >= 1 && port <= 65535) return port
  throw new InvalidArgumentError('a port is a number from 1 to 65535.')
}
