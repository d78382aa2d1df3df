import { Injectable, Log } from '@stack/backend'
import type { MirroredSecrets } from '../../wire/secrets.ts'
import { ClaimsKeys } from '../keys/claims.ts'
import { ServiceRoleKeys } from '../keys/service-role.ts'
import { open } from '../shared/seal.ts'
import { VaultRows } from './rows.ts'

/** Where an entry belongs: sealed for it, it opens nowhere else. */
export const placeOf = (name: string) => `vault backend ${name}`

/** Gives the vault to the backend worker, by RPC over its service binding and never over HTTP (contract 9.9). */
@Injectable()
export class VaultMirror {
  constructor(
    private readonly claims: ClaimsKeys,
    private readonly rows: VaultRows,
    private readonly serviceRole: ServiceRoleKeys,
  ) {}

  /** @param known the revision that the caller holds. @returns `null` where that is still the one. */
  async mirrorSecrets(known: string | null): Promise<MirroredSecrets | null> {
    const revision = await this.rows.revision()
    if (revision === known) return null
    const entries: Record<string, string> = {}
    for (const { name, sealed } of await this.rows.sealed()) {
      try {
        entries[name] = await open(sealed, placeOf(name))
      } catch (error) {
        // one that was sealed under another key must not take the others with it
        Log.error('a secret of the vault cannot be opened', { name, error })
      }
    }
    const keys = {
      CLAIMS_KEY: await this.opened('CLAIMS_KEY', this.claims.current()),
      SERVICE_ROLE_KEY: await this.opened('SERVICE_ROLE_KEY', this.serviceRole.current()),
    }
    return { revision, keys, entries }
  }

  /** A key that does not open leaves its binding in force, and must not take the secrets with it. */
  private async opened(name: string, key: Promise<string | undefined>): Promise<string | undefined> {
    return key.catch((error: unknown) => {
      Log.error('a rotated key cannot be opened: bind the sealing key it was sealed with', { name, error })
      return undefined
    })
  }
}
