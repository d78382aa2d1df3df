import { Injectable } from '@stack/backend'
import { authError } from '../shared/errors.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import type { ProviderName } from './credentials.ts'

/** Whether a way to sign in is open. Read at each use, so that a change is in force when its call returns. */
@Injectable()
export class ProviderStates {
  async isEnabled(name: ProviderName, sql: Sql = inRequest): Promise<boolean> {
    const [row] = await sql<{ enabled: boolean }>`select enabled from auth.providers where name = ${name}`
    return row!.enabled
  }

  /** @throws HttpError 403 `provider_disabled` */
  async requireEnabled(name: ProviderName, sql: Sql = inRequest): Promise<void> {
    if (!(await this.isEnabled(name, sql))) throw authError('provider_disabled')
  }
}
