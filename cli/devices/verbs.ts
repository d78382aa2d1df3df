/** The verbs about the attested devices of users. */
import { devices as operations } from '../../src/wire/operations.ts'
import { type HttpVerb, httpVerb } from '../shared/http-verb.ts'
import { type Group, jsonFlag, targetFlags } from '../shared/verb.ts'

const flags = () => [...targetFlags(), jsonFlag('accepted for scripts: the result is always JSON on stdout')]

const rows: HttpVerb[] = [
  {
    name: 'devices list',
    summary: 'list attested devices, the newest first, revoked ones too',
    operation: operations.listAll,
    query: [
      ['--user <user_id>', 'user_id', 'the devices of one user'],
      ['--limit <number>', 'limit', 'the number of devices (default: 50)'],
      ['--cursor <cursor>', 'cursor', 'the `next_cursor` of the page before'],
    ],
    examples: ['stack devices list', 'stack devices list --user usr_01ja --env staging'],
  },
  {
    name: 'devices revoke',
    positionals: { '<device_id>': 'the id of the device, like dev_01ja…' },
    summary: 'revoke a device, which counts from the next request on',
    operation: operations.revoke,
    destroys: (id) => `revoke the device ${id}`,
    examples: ['stack devices revoke dev_01ja'],
  },
]

export const devices: Group = {
  summaries: { devices: 'list and revoke the attested devices of users' },
  verbs: rows.map((row) => httpVerb(row, flags)),
}
