import { Secrets } from '@stack/backend'

/** @returns the base URL of the stack without a slash at its end. It may have a path, which a proxy strips (contract 9.14). */
export function baseUrl(): string {
  return Secrets.get('STACK_URL').replace(/\/+$/, '')
}
