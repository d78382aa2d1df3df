/** Stands in for the database in a worker whose project uses none: its bundle does not contain the driver. */
import type { Queries } from '../../src/sdk/scope.ts'
import type { RequestDatabase } from './transaction.ts'

const queries: Queries = {
  query: rejected,
}

/** The build leaves the database out only where no code can reach it, so a call of this is a fault of the build. */
function rejected(): Promise<never> {
  return Promise.reject(new Error('this worker was built without a database'))
}

export function withoutDatabase(): RequestDatabase {
  return {
    caller: queries,
    service: queries,
    apart: () => Promise.reject(new Error('this worker was built without a database')),
    readGrants: rejected,
    commit: async () => {},
    rollback: async () => {},
  }
}
