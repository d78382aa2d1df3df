/** `stack webhooks send <name> <event>`: sends a delivery as its provider would, signed here. */
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { Failure } from '../shared/failure.ts'
import { runningStack } from '../shared/local-stack.ts'
import { locateProject } from '../shared/project.ts'
import { workingDirectory } from '../shared/working-directory.ts'
import { addressOf, deliver } from './deliver.ts'
import { findSigner } from './keys.ts'
import { webhookNamed } from './mounted.ts'
import { sampleOf } from './sample.ts'

export interface SendFlags {
  project?: string
  data?: string
  secretEnv?: string
  json?: boolean
}

export async function runSend(flags: SendFlags, name: string, event: string): Promise<void> {
  const { root } = locateProject(flags.project)
  const webhook = webhookNamed(root, name)
  const given = flags.data === undefined ? undefined : readGiven(flags.data)
  const { body, contentType, headers } = sampleOf(webhook.scheme, event, given)
  const record = await runningStack(root)
  const signer = await findSigner(root, record, webhook, flags.secretEnv)
  if (!webhook.events.some(({ key }) => key === event)) {
    const bound = webhook.events.map(({ key }) => key).join(', ')
    process.stderr.write(`  no method of ${webhook.class} is bound to "${event}" (bound: ${bound})\n`)
  }
  const delivery = {
    body: Buffer.from(body),
    headers: { 'content-type': contentType, ...headers },
    at: Math.floor(Date.now() / 1000),
    id: `msg_${randomBytes(12).toString('hex')}`,
    ...addressOf(root, record, webhook, ''),
  }
  const hint =
    given === undefined ? '; it names its event and nothing else: what the handler reads is given by --data' : ''
  await deliver(record, webhook, signer, delivery, { json: flags.json, hint })
}

/** Reads JSON from the text itself, from `@file`, or from standard input for `@-`. */
function readGiven(text: string): unknown {
  const file = text.startsWith('@') ? text.slice(1) : undefined
  let source = text
  if (file !== undefined) {
    try {
      source = fs.readFileSync(file === '-' ? 0 : path.resolve(workingDirectory(), file), 'utf8')
    } catch (error) {
      throw new Failure('usage', `${file} cannot be read: ${(error as Error).message}`)
    }
  }
  try {
    return JSON.parse(source)
  } catch (error) {
    throw new Failure('usage', `${file ?? '--data'} is not valid JSON: ${(error as Error).message}`)
  }
}
