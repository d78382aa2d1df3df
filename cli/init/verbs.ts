/** The verb that makes a project. */
import { Option } from 'commander'
import { type Group, jsonFlag } from '../shared/verb.ts'
import type { InitFlags } from './init.ts'

export const init: Group = {
  summaries: {},
  verbs: [
    {
      name: 'init',
      positionals: { '[dir]': 'the folder of the project, which is new or empty (default: asked on a terminal)' },
      summary: 'make a new project that builds, runs and passes its tests',
      options: [
        new Option('--template <name>', 'api, webhooks or full (default: asked on a terminal, else full)'),
        new Option('--yes', 'ask nothing'),
        new Option('--no-install', 'leave out npm install'),
        new Option('--no-git', 'leave out git init'),
        jsonFlag(),
      ],
      examples: ['stack init shop', 'stack init shop --template api --yes', 'stack init . --no-install --yes'],
      run: async (flags, dir) => (await import('./init.ts')).runInit(flags as InitFlags, dir),
    },
  ],
}
