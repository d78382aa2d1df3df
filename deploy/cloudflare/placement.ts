/** Where the workers run: next to the database, so that the statements of a request cost no distance. */
import { isLoopback } from '../../src/wire/loopback.ts'

/** The setting `placement` of wrangler. */
export type Placement = { region: string } | { host: string }

/** Hosts that name the cloud region of their database, with the region's name behind the cloud's. */
const regions: readonly { pattern: RegExp; cloud: string }[] = [
  { pattern: /\.([a-z0-9-]+)\.aws\.neon\.tech$/, cloud: 'aws' },
  { pattern: /\.([a-z0-9-]+)\.azure\.neon\.tech$/, cloud: 'azure' },
  { pattern: /\.([a-z0-9-]+)\.rds\.amazonaws\.com$/, cloud: 'aws' },
  { pattern: /^aws-\d+-([a-z0-9-]+)\.pooler\.supabase\.com$/, cloud: 'aws' },
]

/**
 * @returns the region that the host names, else the host itself: Cloudflare then measures which of its places reaches the
 * database first. `undefined` for a host that Cloudflare cannot reach.
 */
export function placementOf(database: URL): Placement | undefined {
  const host = database.hostname
  if (isLoopback(host)) return undefined
  for (const { pattern, cloud } of regions) {
    const region = pattern.exec(host)?.[1]
    if (region !== undefined) return { region: `${cloud}:${region}` }
  }
  return { host: `${host}:${database.port || 5432}` }
}
