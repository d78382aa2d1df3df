/** Paths that no controller of a project can use, with everything below them (contract 1.2 and "Build-time refusals for webhooks"). */

/** The host sends requests on these paths to the auth worker. */
export const authPaths = ['/auth', '/v1/management', '/admin/vault', '/.well-known/oauth-authorization-server/auth']

/** The webhook receiver answers here, in both workers. */
export const webhooksPath = '/webhooks'
