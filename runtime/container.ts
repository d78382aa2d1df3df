/** The project's instances: one of each class per isolate, built at first use by the code that the build emits (contract 2.2). */
import type { Scope } from './transact.ts'

/** Builds an instance, and what it depends on, or gives the one that is built. */
export type Builder = () => object

/** @returns the instance of the component with that index. */
export function createContainer(builders: readonly Builder[], scope: Scope): (index: number) => object {
  const instances: object[] = []
  // outside of the request that happens to be the first: what a constructor keeps, every later request would see
  return (index) => {
    const build = builders[index]!
    instances[index] ??= scope ? scope.run(undefined, build) : build()
    return instances[index]
  }
}

/** Calls a method that the table names. */
export function invoke(target: object, method: string, args: readonly unknown[]): unknown {
  return (target as Record<string, (...args: readonly unknown[]) => unknown>)[method]!(...args)
}
