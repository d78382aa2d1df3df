/**
 * What a push writes down about itself in a variable of each worker. It is part of the version that is uploaded, so it is
 * always that of the code and the secrets beside it, also after a rollback. It holds no secret.
 */
import type { KeyName } from './keys.ts'

export const factsVariable = 'STACK_DEPLOYED'

export interface Facts {
  /** Marks of the keys that the worker's secrets are made of. */
  keys: Partial<Record<KeyName, string>>
  /** Host, port and name of the database. */
  database: string
  /** Names the verifiers that the logins had. */
  verifiers: string
  /** Names of the webhooks, on the backend worker. */
  webhooks: string[]
}

/** Largest length of the text in bytes: Cloudflare admits 5 KiB for a variable. */
const longest = 5_000

/** @returns facts without any content where the variable is absent or not valid. */
export function readFacts(variables: Readonly<Record<string, string>> | undefined): Facts {
  const none: Facts = { keys: {}, database: '', verifiers: '', webhooks: [] }
  try {
    return { ...none, ...(JSON.parse(variables?.[factsVariable] ?? '{}') as Partial<Facts>) }
  } catch {
    return none
  }
}

/** @returns the variable. Of too many webhooks the last names are left out: only their removal would not be named. */
export function factsText(facts: Facts): Record<string, string> {
  const webhooks = [...facts.webhooks].sort()
  for (;;) {
    const text = JSON.stringify({ ...facts, webhooks })
    if (Buffer.byteLength(text) <= longest || webhooks.length === 0) return { [factsVariable]: text }
    webhooks.pop()
  }
}
