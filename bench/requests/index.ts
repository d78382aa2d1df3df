/** Measures what a request costs, beside a Worker written by hand (both in plain workerd) and a NestJS application (in Node). */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startSender } from '../threads.ts'
import { benchFetches } from './fetches.ts'
import { benchGated } from './gated.ts'
import { createIssuer } from './issuer.ts'
import { projectModules } from './project.ts'
import { benchSignedIn } from './signed-in.ts'
import { benchVerifying } from './verifying.ts'

export async function benchRequests(): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-bench-'))
  const sender = startSender()
  try {
    const issuer = await createIssuer()
    const built = await projectModules(folder)
    await benchSignedIn(built, issuer, sender)
    await benchVerifying(issuer, sender)
    await benchFetches(built, issuer, sender)
    await benchGated(built, issuer, sender, folder)
  } finally {
    await sender.end()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
