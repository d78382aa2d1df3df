/** What the host hands to the auth worker, with everything below it (contract 1.2). */
export const authPaths = ['/auth', '/v1/management', '/admin/vault', '/.well-known/oauth-authorization-server/auth']
