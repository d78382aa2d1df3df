/** The verbs that administer attested devices. */
import { Option } from 'commander'
import type { TargetFlags } from '../shared/target.ts'
import { environmentFlag, type Group, jsonFlag, projectFlag, wholeNumber } from '../shared/verb.ts'
import type { ListFlags } from './list.ts'

export const devices: Group = {
  summaries: { devices: 'list and revoke the attested devices of users' },
  verbs: [
    {
      name: 'devices list',
      summary: 'list attested devices, the newest first',
      options: [
        projectFlag(),
        environmentFlag(),
        new Option('--user <id>', 'the devices of one user, revoked ones too'),
        new Option('--limit <number>', 'the number of devices').argParser(wholeNumber(1, 500)).default(50),
        new Option('--cursor <cursor>', 'the `next_cursor` of the page before'),
        jsonFlag('accepted for scripts: the list is always JSON on stdout'),
      ],
      examples: ['stack devices list', 'stack devices list --user usr_01HZ --env staging'],
      run: async (flags: ListFlags) => (await import('./list.ts')).runList(flags),
    },
    {
      name: 'devices revoke',
      positionals: { '<dev_id>': 'the id of the device' },
      summary: 'revoke a device: its requests have no device from the next one on',
      options: [
        projectFlag(),
        environmentFlag(),
        jsonFlag('accepted for scripts: the device is always JSON on stdout'),
      ],
      examples: ['stack devices revoke dev_01HZ'],
      run: async (flags: TargetFlags, id: string) => (await import('./revoke.ts')).runRevoke(flags, id),
    },
  ],
}
