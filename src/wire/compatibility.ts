/** The Workers runtime that a stack is built for, on every machine alike. */

/** Behaviour of the runtime is that of this date. It is that of the workerd that comes with this package. */
export const compatibilityDate = '2026-07-30'

/** `nodejs_compat` gives `node:async_hooks` and the modules that the database driver imports. */
export const compatibilityFlags: readonly string[] = ['nodejs_compat']
