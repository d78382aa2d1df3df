/** The verbs about the application roles of a stack (source, "Role commands"). */
import { Option } from 'commander'
import { roles as operations } from '../../src/wire/operations.ts'
import { type HttpVerb, httpVerb } from '../shared/http-verb.ts'
import { type Group, jsonFlag, targetFlags, yesFlag } from '../shared/verb.ts'
import type { CreateFlags } from './create.ts'
import type { DeleteFlags } from './delete.ts'

const holder = { '<user_id>': 'the id of the user, like usr_01ja…', '<role>': 'the name of the role' }
const alwaysJson = () => jsonFlag('accepted for scripts: the result is always JSON on stdout')
const flags = () => [...targetFlags(), alwaysJson()]

const rows: HttpVerb[] = [
  {
    name: 'roles list',
    summary: 'list the roles with their permissions',
    operation: operations.list,
    examples: ['stack roles list', 'stack roles list --env staging'],
  },
  {
    name: 'roles of',
    positionals: { '<user_id>': holder['<user_id>'] },
    summary: 'list the roles of a user',
    operation: operations.held,
    examples: ['stack roles of usr_01ja'],
  },
  {
    name: 'roles assign',
    positionals: holder,
    summary: 'grant a role, which counts from the next request on',
    operation: operations.assign,
    examples: ['stack roles assign usr_01ja editor'],
  },
  {
    name: 'roles revoke',
    positionals: holder,
    summary: 'take a role from a user, which counts from the next request on',
    operation: operations.revoke,
    destroys: (user, role) => `take the role ${role} from ${user}`,
    examples: ['stack roles revoke usr_01ja editor'],
  },
]

export const roles: Group = {
  summaries: { roles: 'declare, list, assign and revoke the application roles' },
  verbs: [
    {
      name: 'roles create',
      positionals: { '<name>': 'the name of the role' },
      summary: 'declare a role in the stack and in stack/roles.json, or change it',
      options: [
        ...flags(),
        new Option('--default', 'every new user receives it'),
        new Option('--permissions <list>', 'its permissions, separated by commas'),
      ],
      examples: [
        'stack roles create editor --permissions post.write,post.publish',
        'stack roles create member --default',
      ],
      run: async (given: CreateFlags, name) => (await import('./create.ts')).runCreate(given, name!),
    },
    ...rows.map((row) => httpVerb(row, flags)),
    {
      name: 'roles delete',
      positionals: { '<name>': 'the name of the role' },
      summary: 'remove a role that no user holds, from the stack and from stack/roles.json',
      options: [...flags(), yesFlag()],
      examples: ['stack roles delete editor'],
      run: async (given: DeleteFlags, name) => (await import('./delete.ts')).runDelete(given, name!),
    },
  ],
}
