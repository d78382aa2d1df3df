/** `npm run bench -- <name>`: compares each figure with a peer's of the same run, as a ratio. */
import { benchAccounts } from './accounts/index.ts'
import { benchAvailability } from './availability/index.ts'
import { benchBuild } from './build/index.ts'
import { benchCli } from './cli/index.ts'
import { benchDevices } from './devices/index.ts'
import { benchManagement } from './management/index.ts'
import { benchRequests } from './requests/index.ts'
import { benchServe } from './serve/index.ts'
import { benchWebhooks } from './webhooks/index.ts'

const benches: Record<string, () => Promise<void>> = {
  accounts: benchAccounts,
  availability: benchAvailability,
  build: benchBuild,
  cli: benchCli,
  devices: benchDevices,
  management: benchManagement,
  requests: benchRequests,
  serve: benchServe,
  webhooks: benchWebhooks,
}

const [name = ''] = process.argv.slice(2)
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
if (!bench) {
  process.stderr.write(`usage: npm run bench -- ${Object.keys(benches).join(' | ')}\n`)
  process.exit(2)
}
await bench()
process.exit(0)
