/** The verbs that are about a project as a whole. */
import { Option } from 'commander'
import { type Group, jsonFlag, projectFlag, wholeNumber } from '../shared/verb.ts'
import type { BuildFlags } from './build.ts'
import type { ExplainFlags } from './explain.ts'
import type { StartFlags } from './start.ts'

export const project: Group = {
  summaries: {},
  verbs: [
    {
      name: 'build',
      summary: 'compile the project into .stack/, or print every refusal at once',
      options: [
        projectFlag(),
        new Option(
          '--env <name>',
          'the environment that the auth worker is built for (default: none, without debug devices)',
        ),
        new Option('--out <dir>', 'the folder that is written (default: .stack)'),
        new Option('--format <format>', 'how refusals are printed')
          .choices(['text', 'json', 'github', 'sarif'])
          .default('text'),
        jsonFlag('the same as --format json: one refusal a line on stdout').conflicts('format'),
        new Option('--fix', 'apply every fix that is exact, then build'),
        new Option('--watch', 'build again at every change, until Ctrl-C'),
      ],
      examples: ['stack build', 'stack build --fix', 'stack build --watch', 'stack build --format sarif > stack.sarif'],
      run: async (flags: BuildFlags) => (await import('./build.ts')).runBuild(flags),
    },
    {
      name: 'explain',
      positionals: { '[slug]': 'the refusal, as `stack build` names it in brackets (default: list all of them)' },
      summary: 'explain a refusal with a program that is refused and one that is accepted',
      options: [jsonFlag()],
      examples: ['stack explain user-on-public-route', 'stack explain'],
      run: async (flags: ExplainFlags, slug) => (await import('./explain.ts')).runExplain(flags, slug),
    },
    {
      name: 'start',
      summary: 'run the project on this machine with workerd and Postgres, until Ctrl-C',
      options: [
        projectFlag(),
        new Option(
          '--port <number>',
          'the port of the API, exit 3 where it is taken (default: 8787, or the next free one)',
        ).argParser(wholeNumber(1, 65535)),
        jsonFlag('print one JSON object when the stack is ready, then the log as JSON lines'),
        new Option('--fresh', 'delete the local database and its keys first'),
      ],
      examples: ['stack start', 'stack start --port 8790 --fresh'],
      run: async (flags: StartFlags) => (await import('./start.ts')).runStart(flags),
    },
  ],
}
