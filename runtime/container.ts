/** The project's instances: one of each class in an isolate, built at its first use by the code that the build emits (contract 2.2). */
import type { Scope } from './transact.ts'

/** Returns the instance of a class. The first call builds the instance and its dependencies. */
export type Builder = () => object

/** @returns a function that returns the instance of the component with an index. */
export function createContainer(builders: readonly Builder[], scope: Scope): (index: number) => object {
  const instances: object[] = []
  // built outside of the request's scope: a constructor could keep the first request's data for all later ones
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
