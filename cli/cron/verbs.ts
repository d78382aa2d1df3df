/** The verbs that list and run the scheduled methods of the local stack. */
import { type Group, jsonFlag, projectFlag } from '../shared/verb.ts'
import type { ListFlags } from './list.ts'
import type { RunFlags } from './run.ts'

export const cron: Group = {
  summaries: { cron: 'list the scheduled methods, and run one of them at once' },
  verbs: [
    {
      name: 'cron list',
      summary: 'list the scheduled methods of the last build, and when each runs next',
      options: [projectFlag(), jsonFlag()],
      examples: ['stack cron list', 'stack cron list --json'],
      run: async (flags: ListFlags) => (await import('./list.ts')).runList(flags),
    },
    {
      name: 'cron run',
      positionals: { '<Class.method>': 'the scheduled method, as `stack cron list` names it' },
      summary: 'run a scheduled method on the local stack at once, whatever its schedule says',
      options: [projectFlag(), jsonFlag('print the outcome, the request id and the duration as one JSON object')],
      examples: ['stack cron run Reports.write', 'stack cron run Reports.write --json'],
      run: async (flags: RunFlags, name: string) => (await import('./run.ts')).runCron(flags, name),
    },
  ],
}
