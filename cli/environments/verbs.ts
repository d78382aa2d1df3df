/** The verbs about the environments of a project, and the credentials for them. */
import { Option } from 'commander'
import type { TargetFlags } from '../shared/target.ts'
import { environmentFlag, type Group, jsonFlag, projectFlag, targetFlags } from '../shared/verb.ts'
import type { CreateFlags } from './create.ts'
import type { LoginFlags } from './login.ts'

const alwaysJson = () => jsonFlag('accepted for scripts: the result is always JSON on stdout')

export const environments: Group = {
  summaries: {},
  verbs: [
    {
      name: 'env',
      summary: 'print the stack that commands are about, and why it was chosen',
      options: [projectFlag(), environmentFlag(), alwaysJson()],
      examples: ['stack env', 'stack env --env staging'],
      run: async (flags: TargetFlags) => (await import('./show.ts')).runShow(flags),
    },
    {
      name: 'env list',
      summary: 'list the environments of the project',
      options: [projectFlag(), alwaysJson()],
      examples: ['stack env list'],
      run: async (flags: TargetFlags) => (await import('./list.ts')).runList(flags),
    },
    {
      name: 'env create',
      positionals: { '<name>': 'the name of the environment, like staging' },
      summary: 'add an environment with a new ref to stack/project.json',
      options: [
        projectFlag(),
        new Option('--url <url>', 'its address (default: https://<ref>.<domain>, where the others have one domain)'),
        alwaysJson(),
      ],
      examples: ['stack env create staging --url https://staging.shop.example', 'stack env create production'],
      run: async (flags: CreateFlags, name) => (await import('./create.ts')).runCreate(flags, name!),
    },
    {
      name: 'env use',
      positionals: { '<name>': 'an environment of stack/project.json, or local to forget the choice' },
      summary: 'choose the environment of this checkout',
      options: [projectFlag(), alwaysJson()],
      examples: ['stack env use staging', 'stack env use local'],
      run: async (flags: TargetFlags, name) => (await import('./use.ts')).runUse(flags, name!),
    },
    {
      name: 'login',
      summary: 'check and store a service-role key or an access token for an environment',
      options: [...targetFlags(), new Option('--stdin', 'read it from standard input, and strip one trailing newline')],
      examples: ['stack login --env staging --stdin < key.txt'],
      run: async (flags: LoginFlags) => (await import('./login.ts')).runLogin(flags),
    },
    {
      name: 'logout',
      summary: 'remove the stored credential of an environment',
      options: [projectFlag(), environmentFlag()],
      examples: ['stack logout --env staging'],
      run: async (flags: TargetFlags) => (await import('./login.ts')).runLogout(flags),
    },
  ],
}
