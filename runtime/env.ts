/** The worker's bindings, and the addresses that follow from them. */

export type Env = Record<string, unknown>

/** @returns the text of a binding, or `undefined` when the binding is absent, empty, or not text. */
export function textBinding(env: Env, name: string): string | undefined {
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The stack's base URL without a trailing slash (contract 1.2). */
export function stackUrl(env: Env): string | undefined {
  return textBinding(env, 'STACK_URL')?.replace(/\/+$/, '')
}

/** The `iss` claim of tokens that this stack's own auth worker issues (contract 1.2). */
export function ownIssuer(env: Env): string | undefined {
  const base = stackUrl(env)
  return base === undefined ? undefined : `${base}/auth`
}
