/** Every sealed column of the module. `POST /keys/sealing/rotate` seals their values anew, so a column that is missing here is lost. */
import { serviceRoleKeyPlace } from '../../wire/secrets.ts'
import { placeOf as claimsKeyPlace } from '../keys/claims.ts'
import { placeOf as signingKeyPlace } from '../keys/rows.ts'
import { placeOf as factorPlace } from '../mfa/rows.ts'
import { placeOf as flowPlace } from '../oauth/rows.ts'
import { placeOf as credentialPlace } from '../providers/credentials.ts'
import { placeOf as secretPlace } from '../vault/mirror.ts'

export interface SealedColumn {
  /** The name of the kind of value, for answers and the audit trail. */
  kind: string
  table: string
  column: string
  /** The column has bytes, and not their base64. */
  isBytes?: true
  /** Columns that name a row, in the order of an index. All are text. */
  key: readonly string[]
  /** Leaves out rows whose value is not needed any more. */
  where?: string
  /** The place that the value was sealed for. @param key the values of the columns of `key`. */
  placeOf(...key: string[]): string
}

export const sealedColumns: readonly SealedColumn[] = [
  { kind: 'secret', table: 'vault_entries', column: 'sealed', key: ['name'], placeOf: secretPlace },
  {
    kind: 'provider_credential',
    table: 'provider_credentials',
    column: 'sealed',
    key: ['provider', 'name'],
    placeOf: credentialPlace,
  },
  {
    kind: 'signing_key',
    table: 'signing_keys',
    column: 'sealed_private',
    isBytes: true,
    key: ['kid'],
    placeOf: signingKeyPlace,
  },
  { kind: 'claims_key', table: 'claims_keys', column: 'sealed', key: ['id'], placeOf: claimsKeyPlace },
  { kind: 'service_role_key', table: 'service_role_keys', column: 'sealed', key: ['id'], placeOf: serviceRoleKeyPlace },
  {
    kind: 'second_factor',
    table: 'mfa_factors',
    column: 'sealed_secret',
    key: ['id'],
    placeOf: factorPlace,
  },
  {
    kind: 'provider_sign_in',
    table: 'oauth_flows',
    column: 'sealed',
    key: ['state_digest'],
    where: 'consumed_at is null and expires_at > now()',
    placeOf: flowPlace,
  },
]
