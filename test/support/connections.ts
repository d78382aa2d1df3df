/** Both kinds of connection that a transaction may have (contract 5.4): what holds of one must hold of the other. */
export const connectionKinds: { kind: string; isKept: boolean; variables: Record<string, string> }[] = [
  { kind: 'a connection for each request', isKept: false, variables: { STACK_POOL: 'off' } },
  { kind: 'connections that are kept', isKept: true, variables: {} },
]

/** Of one login, by default. */
export const mostKept = 20
