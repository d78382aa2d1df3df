/** Lets a local database hold devices of every world: a stack that serves real users holds those of production alone. */
import { connect } from './database.ts'

/** @param databaseUrl of the owner, after the migrations. */
export async function admitAllDevices(databaseUrl: string): Promise<void> {
  const client = await connect(databaseUrl)
  try {
    await client.query(`insert into stack.device_environments values ('development'), ('debug') on conflict do nothing`)
  } finally {
    await client.end().catch(() => {})
  }
}
