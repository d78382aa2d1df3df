/** Both kinds of connection that a transaction may have (contract 5.4). A test that runs with one runs with the other too. */
export const connectionKinds: { kind: string; isKept: boolean; variables: Record<string, string> }[] = [
  { kind: 'a connection for each request', isKept: false, variables: { STACK_POOL: 'off' } },
  { kind: 'connections that are kept', isKept: true, variables: {} },
]

/** Default number of connections of the pool for one login (contract 5.4). */
export const mostKept = 20
