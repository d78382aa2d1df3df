import { Database, Injectable } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { inRequest, type Sql } from '../shared/sql.ts'

export interface StoredSettings {
  document: Settings
  /** Grows with every write. */
  revision: number
}

@Injectable()
export class SettingsRows {
  async read(sql: Sql = inRequest): Promise<StoredSettings> {
    const [row] = await sql<StoredSettings>`select document, revision::int from auth.settings`
    return row!
  }

  /** Waits for a write that is under way, so that what is read here is what is replaced. */
  async lock(): Promise<StoredSettings> {
    const [row] = await Database.$asService().sql<StoredSettings>`
      select document, revision::int from auth.settings for update`
    return row!
  }

  async replace(document: Settings): Promise<StoredSettings> {
    const [row] = await Database.$asService().sql<StoredSettings>`
      update auth.settings set document = ${JSON.stringify(document)}, revision = revision + 1, updated_at = now()
      returning document, revision::int`
    return row!
  }
}
