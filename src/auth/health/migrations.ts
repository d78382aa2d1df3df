/** The last migration of this module's schema: a database that has it can serve this code. */
export const lastMigration = '0021_device_environments.sql'
