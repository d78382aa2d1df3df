/** `stack devices list`: one page of the devices. */
import { devices } from '../../src/wire/operations.ts'
import { manage } from '../shared/management.ts'
import { printJson } from '../shared/output.ts'
import { locateTarget, type TargetFlags } from '../shared/target.ts'

export interface ListFlags extends TargetFlags {
  user?: string
  limit: number
  cursor?: string
}

export async function runList(flags: ListFlags): Promise<void> {
  const { user, limit, cursor } = flags
  const query = new URLSearchParams({ limit: String(limit), ...(user && { user_id: user }), ...(cursor && { cursor }) })
  const { method, path } = devices.listAll
  await printJson(await manage(await locateTarget(flags), { method, path: `${path}?${query}` }))
}
