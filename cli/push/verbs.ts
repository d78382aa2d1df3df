/** The verb that deploys an environment. */
import { InvalidArgumentError, Option } from 'commander'
import { type Group, jsonFlag, projectFlag, wholeNumber } from '../shared/verb.ts'
import type { PushFlags } from './push.ts'

/** The keys that can be replaced, by their names in the file of an environment's keys. */
const keys = ['logins', 'claims', 'service_role', 'sealing', 'pepper', 'refresh']

export const push: Group = {
  summaries: {},
  verbs: [
    {
      name: 'push',
      summary: 'deploy an environment to Cloudflare: database, both workers, roles and templates',
      options: [
        projectFlag(),
        new Option(
          '--env <name>',
          'an environment of stack/project.json (default: the one that `stack env use` chose)',
        ),
        new Option('--dry-run', 'do what needs no server, list the pending migrations, and change nothing'),
        new Option(
          '--database-url-stdin',
          "read the URL of the database's owner from standard input, not from DATABASE_URL",
        ),
        new Option('--plan <plan>', 'the Workers plan of the account').choices(['paid', 'free']).default('paid'),
        new Option('--new-keys <names>', `keys to replace, with commas between them: ${keys.join(', ')}`).argParser(
          keyList,
        ),
        new Option('--wait <seconds>', 'longest wait for what was uploaded to be in force (default: 60)').argParser(
          wholeNumber(1, 600),
        ),
        jsonFlag('accepted for scripts: the result is always JSON on stdout'),
      ],
      examples: [
        'stack push --env staging --dry-run',
        'stack push --env staging --new-keys logins',
        'stack push --env staging --database-url-stdin < owner-url.txt',
      ],
      run: async (flags: PushFlags) => (await import('./push.ts')).runPush(flags),
    },
  ],
}

function keyList(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !keys.includes(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`the keys are ${keys.join(', ')}.`)
  return names
}
