/**
 * A push writes down what it has deployed, in a variable of each worker. The variable is part of the version that is uploaded, so
 * it always fits the code and the secrets beside it, also after a rollback. It holds no secret.
 */
import type { KeyName } from './keys.ts'

const factsVariable = 'STACK_DEPLOYED'

export interface Facts {
  /** Marks of the keys that the worker's secrets are made of. */
  keys: Partial<Record<KeyName, string>>
  /** Host, port and name of the database. */
  database: string
  /** Names the verifiers that the logins had. */
  verifiers: string
  /** Says which environment a client talks to, and admits no one. */
  publishable_key: string
  /** Names of the webhooks, on the backend worker. */
  webhooks: string[]
}

/** Largest length of the text in bytes: Cloudflare admits 5 KiB for a variable. */
const longest = 5_000

/** @returns facts without any content where the variable is absent or not valid. */
export function readFacts(variables: Readonly<Record<string, string>> | undefined): Facts {
  const none: Facts = { keys: {}, database: '', verifiers: '', publishable_key: '', webhooks: [] }
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
