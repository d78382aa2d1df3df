import { Database } from '@stack/backend'

/** Runs statements of one transaction: the request's own, or a short one of `Database.$apart`. */
export type Sql = ReturnType<typeof Database.$asService>['sql']

/** The service transaction of the request. */
export const inRequest: Sql = (strings, ...values) => Database.$asService().sql(strings, ...values)
