/** All groups of verbs, in the order in which `stack --help` lists them. */
import { cron } from './cron/verbs.ts'
import { devices } from './devices/verbs.ts'
import { project } from './project/verbs.ts'
import { secret } from './secret/verbs.ts'
import type { Group } from './shared/verb.ts'
import { webhooks } from './webhooks/verbs.ts'

export const groups: readonly Group[] = [project, webhooks, cron, secret, devices]

export const verbs = groups.flatMap((group) => group.verbs)
