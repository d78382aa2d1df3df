/** What a worker has in the place of a database when nothing in its project asks for one: the driver is not in its bundle. */
import type { Queries } from '../../src/sdk/scope.ts'
import type { RequestDatabase } from './transaction.ts'

/** The build leaves the database out only where no code can reach it. */
const queries: Queries = {
  query: () => Promise.reject(new Error('this worker was built without a database')),
}

export function withoutDatabase(): RequestDatabase {
  return {
    caller: queries,
    service: queries,
    readGrants: () => Promise.reject(new Error('this worker was built without a database')),
    commit: async () => {},
    rollback: async () => {},
  }
}
