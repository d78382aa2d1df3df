import { Database } from '@stack/backend'

/** Hidden from the build, which refuses this where it stands in a class: it is here to show what happens then. */
export const readEarly = () => Database.sql`select text from notes`.catch((error: Error) => error.name)
