/** `stack start`: the local stack until Ctrl-C. What it says goes to stderr; with `--json`, one object to stdout when ready, then the log. */
import path from 'node:path'
import { describeGate } from '../build/emit/report.ts'
import type { Change } from '../local/follow.ts'
import { createLogPrinter } from '../local/log.ts'
import { HeldBy } from '../local/owner.ts'
import { PortTaken } from '../local/ports.ts'
import { type LocalStack, Refused, RunsAlready, startStack } from '../local/start.ts'
import { secretSource } from '../local/vault.ts'
import type { Route } from '../runtime/table.ts'
import { covers } from '../src/wire/permissions.ts'
import { projectPaths } from '../src/wire/project-paths.ts'
import { changeJson, changeText } from './changes.ts'
import { Failure } from './failure.ts'
import { devVars, type LocatedProject, locateProject } from './project.ts'
import { renderRefusals } from './refusals.ts'
import { fixCommandOf, shellWord } from './shell.ts'
import { untilInterrupted } from './signals.ts'

export interface StartFlags {
  project?: string
  port?: number
  json?: boolean
  fresh?: boolean
}

export async function runStart({ project: named, port, json = false, fresh = false }: StartFlags): Promise<void> {
  const located = locateProject(named)
  // whoever read the output may go away; the stack goes on, and ends in order
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const { root, project } = located
  const say = (line: string) => process.stderr.write(`  ${line}\n`)
  process.stderr.write(`${project.project}/local\n`)
  const outs = { backend: path.join(root, '.stack/out'), auth: path.join(root, '.stack/auth/out') }
  const print = createLogPrinter(outs, process.stderr)
  const onLog = (line: string) => {
    if (json) process.stdout.write(`${jsonLine(line)}\n`)
    else {
      const printed = print(line)
      if (printed !== undefined) process.stderr.write(`${printed}\n`)
    }
  }
  const held: string[] = []
  let isReady = false
  const interruption = new AbortController()
  const interrupted = untilInterrupted(() => interruption.abort())
  const variables = devVars(root)
  let stack: LocalStack
  try {
    const lines = (line: string) => (isReady ? onLog(line) : held.push(line))
    const { roles } = located
    const declared = () => ({ ...locateProject(named), variables: devVars(root) })
    const onChange = (change: Change, changed: readonly string[]) => {
      if (change.kind === 'built') print.reload() // stacks name places of what serves now
      if (json) process.stdout.write(`${JSON.stringify(changeJson(change, changed, root))}\n`)
      else process.stderr.write(changeText(change, changed, root))
    }
    const follow = { declared, onChange }
    stack = await startStack(
      { root, project, roles, variables, port, fresh, follow, say, onLog: lines },
      interruption.signal,
    )
  } catch (error) {
    if (interruption.signal.aborted)
      throw new Failure('interrupted', 'interrupted: everything that was started is ended')
    if (error instanceof RunsAlready) return sayRunning(error, json, fresh || port !== undefined)
    throw failureOf(error, root, named)
  }
  if (json) process.stdout.write(`${JSON.stringify({ ...stack.record, times: stack.times })}\n`)
  else process.stderr.write(readyText(located, stack, variables))
  print.reload() // written while the stack was starting
  isReady = true
  for (const line of held.splice(0)) if (isWorthSaying(line)) onLog(line)
  await interrupted
  process.stderr.write('\nstopping …\n')
  await stack.stop()
  process.stderr.write('everything that was started is ended\n')
}

function failureOf(error: unknown, root: string, named: string | undefined): unknown {
  if (error instanceof Refused) {
    const { refusals } = error.result
    const consequence = 'nothing was migrated, and nothing is running'
    return new Failure('refused', renderRefusals(root, refusals, { consequence, fixCommand: fixCommandOf(named) }))
  }
  if (error instanceof PortTaken) return new Failure('port taken', `${error.message}: name another with --port`)
  if (error instanceof HeldBy) return new Failure('no stack', error.message)
  return new Failure('refused', `error: ${(error as Error).message}`)
}

/** @param isSpecial something was asked for that only a new start could give. */
function sayRunning({ record, message }: RunsAlready, json: boolean, isSpecial: boolean): void {
  if (isSpecial) throw new Failure('no stack', `${message}, on ${record.base_url}: end it first`)
  if (json) process.stdout.write(`${JSON.stringify(record)}\n`)
  else
    process.stderr.write(
      `  ${message}\n  API       ${record.base_url}\n  Postgres  ${withoutPassword(record.database_url)}\n`,
    )
}

/** What is no JSON (somebody's own console.log, workerd's own words) becomes a line that is. */
function jsonLine(line: string): string {
  try {
    if (typeof JSON.parse(line) === 'object') return line
  } catch {}
  return JSON.stringify({ level: 'info', message: line })
}

/** The start-up requests of the stack itself are no news. */
function isWorthSaying(line: string): boolean {
  return !line.includes('"worker":"front"') && !line.includes('"worker":"auth"')
}

/** Short where it lies below the person's place, whole where it does not. */
function shownPath(file: string): string {
  const relative = path.relative(process.env['INIT_CWD'] ?? process.cwd(), file)
  return relative.startsWith('..') ? file : relative
}

function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]+@/, '@')
}

function readyText(located: LocatedProject, stack: LocalStack, variables: Record<string, string>): string {
  const { root } = located
  const { record, built, postgres, secrets, times } = stack
  const { routes, webhooks } = built.table
  const seconds = (ms: number) => `${Math.round(ms)} ms`.padStart(8)
  const applied = postgres.applied.length > 0 ? `${postgres.applied.length} migrations applied` : 'nothing to migrate'
  const kind = postgres.fresh ? 'cold' : 'warm'
  const hooks = webhooks.map(({ name, secret: { env } }) => {
    const post = `             POST /webhooks/${name}`
    if (secretSource(env, variables, secrets) !== undefined) return post
    const [what, how] = Object.hasOwn(variables, env)
      ? ['is empty in .dev.vars', 'give it a value there, or remove the line: it hides the vault']
      : ['is not set', `stack secret set ${env} --stdin   (PUT /admin/vault/backend/${env})`]
    return `${post}
               ! ${env} ${what}: every delivery is refused
                 ${how}`
  })
  return `  build      ${seconds(times.build)}  ${routes.length} routes, ${webhooks.length} webhooks
  postgres   ${seconds(times.postgres)}  ${postgres.version} embedded, ${applied}
  workers    ${seconds(times.workers)}  workerd, the backend and the auth worker
ready in ${(times.all / 1000).toFixed(2)} s (${kind})

  API        ${record.base_url}
  Postgres   ${withoutPassword(record.database_url)}
             (its password: ${shownPath(path.join(root, projectPaths.localRecord))})
${hooks.length > 0 ? `  Webhooks   ${hooks.join('\n').trimStart()}\n` : ''}${tryText(located, stack, variables)}
  Ctrl-C ends everything that was started.

`
}

/** Three commands that work as they stand, made from what the project really has. */
function tryText(
  { root, roles }: LocatedProject,
  { record, built }: LocalStack,
  variables: Record<string, string>,
): string {
  const { base_url } = record
  const at = (path: string) => shellWord(`${base_url}${path}`)
  const { routes, webhooks } = built.table
  const open = routes.filter(({ method, path, gate }) => method === 'GET' && gate.required && !path.includes(':'))
  const asks = ({ gate }: Route) =>
    gate.role !== undefined || gate.permission !== undefined || gate.verifiedEmail === true
  const gated = open.find((route) => !asks(route))
  const everybody = roles.find((role) => role.default)
  const isRefused = ({ gate }: Route) =>
    gate.role === undefined
      ? gate.permission !== undefined && !everybody?.permissions.some((held) => covers(held, gate.permission!))
      : gate.role !== everybody?.name
  const refused = open.find(isRefused)
  const webhook = webhooks.find(({ provider, secret }) => provider === 'payments' && variables[secret.env])
  const commands: string[] = []
  if (gated) {
    commands.push(`  # sign up, and call a route that requires it
  TOKEN=$(curl -s ${at('/auth/sign-up')} \\
    -H 'content-type: application/json' \\
    -d "{\\"email\\":\\"ada$RANDOM@example.com\\",\\"password\\":\\"correct horse\\"}" |
    sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -si -w '\\n' ${at(gated.path)} \\
    -H "authorization: Bearer $TOKEN"`)
  }
  if (webhook) {
    // the secret itself is not printed: the command reads it where it stands, as the stack does
    const read = 'require("util").parseEnv(require("fs").readFileSync(process.argv[1], "utf8"))'
    const file = shellWord(shownPath(path.join(root, '.dev.vars')))
    const body = JSON.stringify({ type: webhook.events[0]!.key, data: { order: 1 } })
    commands.push(`  # deliver a signed payment
  T=$(date +%s) BODY=${shellWord(body)}
  SECRET=$(node -p ${shellWord(`${read}.${webhook.secret.env}`)} -- ${file})
  V1=$(printf '%s.%s' "$T" "$BODY" |
    openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)
  curl -si -w '\\n' ${at(`/webhooks/${webhook.name}`)} \\
    -H "x-payments-signature: t=$T,v1=$V1" -d "$BODY"`)
  }
  if (refused && gated) {
    commands.push(`  # see a refusal: ${describeGate(refused.gate)}
  curl -si -w '\\n' ${at(refused.path)} \\
    -H "authorization: Bearer $TOKEN"`)
  } else if (gated) {
    commands.push(`  # see a refusal: nobody is signed in\n  curl -si -w '\\n' ${at(gated.path)}`)
  }
  return commands.length > 0 ? `\n${commands.join('\n\n')}\n` : ''
}
