/** Measures a sign-in, a refresh, and whether the time of an answer tells that an address is known. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startSender } from '../threads.ts'
import { benchEnumeration } from './enumeration.ts'
import { type Peer, startPeer } from './peers/index.ts'
import { benchRefresh } from './refresh.ts'
import { benchSignIn } from './sign-in.ts'
import { type AccountsStack, password, send, startAccountsStack } from './stack.ts'

/** Number of accounts that sign in in turn: an account of a real stack has few sessions. */
const accounts = 32

/** Number of sessions that are refreshed in turn: more than connections, so that no two requests are for one session. */
const sessions = 64

export async function benchAccounts(): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-bench-'))
  const sender = startSender()
  const ends: (() => Promise<unknown>)[] = [sender.end]
  try {
    const stack = await startAccountsStack(folder)
    ends.push(stack.stop)
    const emails = await stack.people(accounts, 'confirmed')
    const start = async (name: 'better-auth' | 'oidc-provider'): Promise<Peer> => {
      const peer = await startPeer(name, { databaseUrl: await stack.database(name), emails, password, sessions })
      ends.push(peer.stop)
      return peer
    }
    const peers = { betterAuth: await start('better-auth'), oidcProvider: await start('oidc-provider') }
    reportLoad('before')
    await benchSignIn(stack, emails, peers.betterAuth, sender)
    await benchRefresh(stack, await signIns(stack, emails), peers, sender)
    await benchEnumeration(stack, sender)
    reportLoad('after')
  } finally {
    for (const end of ends.reverse()) await end()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** @returns the refresh tokens of new sessions. */
async function signIns({ url }: AccountsStack, emails: readonly string[]): Promise<string[]> {
  const tokens: string[] = []
  for (let index = 0; index < sessions; index++) {
    const body = { email: emails[index % emails.length]!, password }
    const { refresh_token } = await send<{ refresh_token: string }>('POST', `${url}/auth/sign-in/password`, body)
    tokens.push(refresh_token)
  }
  return tokens
}

/** Other work on the machine changes the times. It changes the ratios less, because all variants of a round meet it. */
function reportLoad(when: string): void {
  console.log(`\nload average ${when}: ${os.loadavg()[0]!.toFixed(1)}, on ${os.availableParallelism()} cores`)
}
