/** A first week of an operator, against the real auth worker. Its transcript is docs/administration.md. */
import * as fs from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../support/command.ts'
import { runScenario, scenario, transcriptOf } from '../support/operator-scenario.ts'
import { useStack } from '../support/stack.ts'

const shop = useStack('examples/orders')

const file = path.join(packageRoot, 'docs/administration.md')
const head = `# Administering a stack

Each command prints \`project/environment\` and its messages on stderr, here after \`!\`, and the answer of the stack on stdout. Against
a deployed stack, name it by \`--env <name>\` or choose it with \`stack env use <name>\`, and store a key with \`stack login --stdin\`.
\`stack help exit-codes\` lists the exit codes. A test runs these commands against a running stack and compares this page. The
variable \`WRITE_TRANSCRIPT=1\` makes it write the page anew.

`

it('the transcript of docs/administration.md is what the commands print', async () => {
  const person = await shop.signUpConfirmed()
  const [session] = await shop.sql<{ id: string }>('select id from auth.sessions where user_id = $1', [person.id])
  const ran = await runScenario(scenario(person.id, session!.id), { cwd: shop.root })
  const text = head + transcriptOf(ran)
  if (process.env['WRITE_TRANSCRIPT']) fs.writeFileSync(file, text)
  expect(text).toBe(fs.readFileSync(file, 'utf8'))
})
