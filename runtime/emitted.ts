/** The code that the generated entry passes beside the table. Optional parts are present only where the project needs them. */
import type { texts } from './coerce.ts'
import type { Builder } from './container.ts'
import type { createCors } from './cors.ts'
import type { createScheduled } from './cron.ts'
import type { createRequestDatabase } from './database/transaction.ts'
import type * as devices from './devices/check.ts'
import type { limitRate } from './limits.ts'
import type * as management from './management.ts'
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
  /** Absent from a worker that uses no database. */
  openDatabase?: typeof createRequestDatabase
  /** Absent where no code uses an ambient service. */
  scope?: Scope
  /** Absent where the root module declares no `cors`. */
  cors?: ReturnType<typeof createCors>
  /** Absent where no method is scheduled. */
  createScheduled?: typeof createScheduled
  /** Absent where no handler can learn of a device, and from the auth worker. */
  devices?: typeof devices
  /** Absent where no route declares a `limit`. */
  limitRate?: typeof limitRate
  /** Absent where no route administers the stack. */
  management?: typeof management
  /** Absent from the auth worker, which has the vault itself. */
  mirror?: Mirror
  /** Absent from a worker without webhooks. */
  webhooks?: {
    createReceiver: typeof createReceiver
    nameSecrets: typeof nameSecrets
    readers: Readers
    store?: ReturnType<typeof createStore>
  }
}
