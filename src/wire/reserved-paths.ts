/** Paths that no controller of a project can use, with everything below them (contract 1.2 and "Build-time refusals for webhooks"). */

/** The host sends requests on these paths to the auth worker. */
export const authPaths = ['/auth', '/v1/management', '/admin/vault', '/.well-known/oauth-authorization-server/auth']

/** The webhook receiver answers here, in both workers. */
export const webhooksPath = '/webhooks'

/** The path at which the local stack runs a scheduled method at once (contract 10.5). A deployed worker does not have it. */
export const localCronPath = '/cdn-cgi/stack/cron'
