import { Database } from '@stack/backend'

/** The build refuses this inside a class, so it is hidden from the build in a file of its own, to show its result. */
export const readEarly = () => Database.sql`select text from notes`.catch((error: Error) => error.name)
