/** What a worker has in the place of a database when nothing in its project asks for one: the driver is not in its bundle. */
import type { Session } from '../../src/sdk/scope.ts'
import type { RequestDatabase } from './transaction.ts'

/** The build leaves the database out only where no code can reach it. */
const session: Session = {
  query: () => Promise.reject(new Error('this worker was built without a database')),
}

export function withoutDatabase(): RequestDatabase {
  return {
    caller: session,
    service: session,
    readGrants: () => Promise.reject(new Error('this worker was built without a database')),
    commit: async () => {},
    rollback: async () => {},
  }
}
