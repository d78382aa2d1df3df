/** Builds the project's classes: one instance of each per isolate, at first use, dependencies before dependents (contract 2.2). */
import type { Component } from './table.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a constructor takes is checked by the build
export type Class = new (...args: any[]) => object

/** @returns the instance of the component with that index. */
export function createContainer(
  components: readonly Component[],
  classes: readonly Class[],
): (index: number) => object {
  const instances: object[] = []
  return function instance(index: number): object {
    instances[index] ??= new classes[index]!(
      ...components[index]!.dependencies.map((dependency) => (dependency === null ? undefined : instance(dependency))),
    )
    return instances[index]
  }
}

/** Calls a method that the table names. */
export function invoke(target: object, method: string, args: readonly unknown[]): unknown {
  return (target as Record<string, (...args: readonly unknown[]) => unknown>)[method]!(...args)
}
