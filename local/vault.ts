/** What the vault of a stack that runs holds. */
import type { LocalRecord } from './record.ts'

/** @returns names: values never leave it over HTTP (contract 9.9). @throws Error when it does not answer. */
export async function namesInVault({
  base_url,
  service_role_key,
}: Pick<LocalRecord, 'base_url' | 'service_role_key'>): Promise<string[]> {
  const response = await fetch(`${base_url}/admin/vault/backend`, { headers: { apikey: service_role_key } })
  if (!response.ok) throw new Error(`the vault could not be listed: ${await response.text()}`)
  const { data } = (await response.json()) as { data: { name: string }[] }
  return data.map(({ name }) => name)
}
