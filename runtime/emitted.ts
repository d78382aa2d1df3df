/** What the generated entry hands over beside the table: code, and of what not every project needs only what this one does. */
import type { texts } from './coerce.ts'
import type { Builder } from './container.ts'
import type { createCors } from './cors.ts'
import type { createRequestDatabase } from './database/transaction.ts'
import type { limitRate } from './limits.ts'
import type { hasServiceRoleKey, requireKnownParameters } from './management.ts'
import type { Mirror } from './mirror.ts'
import type { Matcher } from './routes.ts'
import type { BoundSchema } from './schemas.ts'
import type { Scope } from './transact.ts'
import type { nameSecrets } from './webhooks/boot.ts'
import type { Readers } from './webhooks/claim.ts'
import type { createReceiver } from './webhooks/receive.ts'
import type { createStore } from './webhooks/store.ts'

export interface Emitted {
  match: Matcher
  /** In the order of the table's container. */
  builders: readonly Builder[]
  schemas: readonly BoundSchema[]
  /** Absent where every schema of an address or a header takes text. */
  texts?: typeof texts
  /** Absent from a worker that uses none. */
  openDatabase?: typeof createRequestDatabase
  /** Absent where nobody can ask for the request. */
  scope?: Scope
  /** Absent from a worker that no other origin's page may read. */
  cors?: ReturnType<typeof createCors>
  /** Absent from a worker without limits. */
  limitRate?: typeof limitRate
  /** Absent from a worker without routes that administer the stack. */
  management?: { hasServiceRoleKey: typeof hasServiceRoleKey; requireKnownParameters: typeof requireKnownParameters }
  /** Absent from the worker that has the vault itself. */
  mirror?: Mirror
  /** Absent from a worker that mounts none. */
  webhooks?: {
    createReceiver: typeof createReceiver
    nameSecrets: typeof nameSecrets
    readers: Readers
    store?: ReturnType<typeof createStore>
  }
}
