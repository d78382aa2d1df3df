/** The names in the vault of a running stack, and the source from which its backend worker reads a name. */
import type { LocalRecord } from './record.ts'

/** @returns names: values never leave the vault over HTTP (contract 9.9). @throws Error when the stack does not answer. */
export async function namesInVault({
  base_url,
  service_role_key,
}: Pick<LocalRecord, 'base_url' | 'service_role_key'>): Promise<string[]> {
  const response = await fetch(`${base_url}/admin/vault/backend`, { headers: { apikey: service_role_key } })
  if (!response.ok) throw new Error(`the vault could not be listed: ${await response.text()}`)
  const { data } = (await response.json()) as { data: { name: string }[] }
  return data.map(({ name }) => name)
}

export type SecretSource = '.dev.vars' | 'vault'

/**
 * The source from which the backend worker of a local stack reads a name. A line of `.dev.vars` wins over the vault. An
 * empty line leaves the name unset (contract 1.6, 9.9).
 * @returns `undefined` for a name that is not set.
 */
export function secretSource(
  name: string,
  variables: Record<string, string>,
  inVault: readonly string[],
): SecretSource | undefined {
  if (Object.hasOwn(variables, name)) return variables[name] === '' ? undefined : '.dev.vars'
  return inVault.includes(name) ? 'vault' : undefined
}
