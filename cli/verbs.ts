/** All groups of verbs, in the order in which `stack --help` lists them. */
import { auth } from './auth/verbs.ts'
import { completion } from './completion/verbs.ts'
import { cron } from './cron/verbs.ts'
import { devices } from './devices/verbs.ts'
import { environments } from './environments/verbs.ts'
import { init } from './init/verbs.ts'
import { link } from './link/verbs.ts'
import { operators } from './operators/verbs.ts'
import { project } from './project/verbs.ts'
import { push } from './push/verbs.ts'
import { roles } from './roles/verbs.ts'
import { secret } from './secret/verbs.ts'
import { serve } from './serve/verbs.ts'
import type { Group } from './shared/verb.ts'
import { token } from './token/verbs.ts'
import { webhooks } from './webhooks/verbs.ts'

export const groups: readonly Group[] = [
  project,
  init,
  push,
  serve,
  environments,
  link,
  auth,
  roles,
  operators,
  secret,
  token,
  devices,
  webhooks,
  cron,
  completion,
]

export const verbs = groups.flatMap((group) => group.verbs)
