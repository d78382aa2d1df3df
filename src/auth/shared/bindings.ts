import { Secrets } from '@stack/backend'

/** @returns the value of a binding that not every stack has, or `undefined`. */
export function optionalBinding(name: string): string | undefined {
  try {
    return Secrets.get(name)
  } catch {
    return undefined
  }
}
