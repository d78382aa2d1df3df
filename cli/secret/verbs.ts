/** The verbs that read and write the vault of a stack. */
import { Option } from 'commander'
import type { TargetFlags } from '../shared/target.ts'
import { type Group, jsonFlag, targetFlags } from '../shared/verb.ts'
import type { SetFlags } from './set.ts'

export const secret: Group = {
  summaries: { secret: 'set, list and unset the secrets in the vault of a stack' },
  verbs: [
    {
      name: 'secret set',
      positionals: { '<NAME|NAME=value>': 'the name with --stdin, else the name and the value' },
      summary: 'store a secret in the vault, from standard input or as <NAME>=<value>',
      options: [
        ...targetFlags(),
        new Option('--stdin', 'read the value from standard input, and strip one trailing newline'),
      ],
      examples: ['stack secret set PAYMENTS_SECRET --stdin < secret.txt', 'stack secret set REGION=eu --env staging'],
      isSecret: true,
      run: async (flags: SetFlags, given: string) => (await import('./set.ts')).runSet(flags, given),
    },
    {
      name: 'secret list',
      summary: 'list the names in the vault and when they were written, never a value',
      options: [...targetFlags(), jsonFlag('accepted for scripts: the list is always JSON on stdout')],
      examples: ['stack secret list', 'stack secret list --env staging'],
      run: async (flags: TargetFlags) => (await import('./list.ts')).runList(flags),
    },
    {
      name: 'secret unset',
      positionals: { '<NAME>': 'the name of the secret' },
      summary: 'remove a secret from the vault',
      options: [...targetFlags()],
      examples: ['stack secret unset PAYMENTS_SECRET'],
      isSecret: true,
      run: async (flags: TargetFlags, name: string) => (await import('./unset.ts')).runUnset(flags, name),
    },
  ],
}
