/** The text of a stack that is ready: durations, addresses, and commands to try. */
import path from 'node:path'
import { describeGate } from '../../build/emit/report.ts'
import type { LocalStack } from '../../local/start.ts'
import { secretSource } from '../../local/vault.ts'
import type { Cron, Route, Webhook } from '../../runtime/table.ts'
import { callOf } from '../../src/wire/address.ts'
import { passwords, vault } from '../../src/wire/operations.ts'
import { covers } from '../../src/wire/permissions.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'
import { type LocatedProject } from '../shared/project.ts'
import { shellWord } from '../shared/shell.ts'
import { workingDirectory } from '../shared/working-directory.ts'

export function readyText(located: LocatedProject, stack: LocalStack, variables: Record<string, string>): string {
  const { root } = located
  const { record, built, postgres, secrets, times } = stack
  const { routes, webhooks, crons = [] } = built.table
  const duration = (ms: number) => `${Math.round(ms)} ms`.padStart(8)
  const applied = postgres.applied.length > 0 ? `${postgres.applied.length} migrations applied` : 'nothing to migrate'
  const kind = postgres.fresh ? 'cold' : 'warm'
  const hooks = webhooks.map((webhook) => webhookText(webhook, variables, secrets))
  return `  build      ${duration(times.build)}  ${routes.length} routes, ${webhooks.length} webhooks
  postgres   ${duration(times.postgres)}  ${postgres.version} embedded, ${applied}
  workers    ${duration(times.workers)}  workerd, the backend and the auth worker
ready in ${(times.all / 1000).toFixed(2)} s (${kind})

  API        ${record.base_url}
  Mailbox    ${record.dashboard_url}   (mail that the stack sends)
  Postgres   ${withoutPassword(record.database_url)}
             (its password: ${shownPath(path.join(root, projectPaths.localRecord))})
${hooks.length > 0 ? `  Webhooks   ${hooks.join('\n').trimStart()}\n` : ''}${cronsText(crons)}${tryText(located, stack, variables)}
  Ctrl-C ends everything that was started.

`
}

export function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]+@/, '@')
}

/** The address of a webhook, and the command that sets its secret where none is set. */
function webhookText(
  { name, secret: { env } }: Webhook,
  variables: Record<string, string>,
  inVault: readonly string[],
): string {
  const post = `             POST /webhooks/${name}`
  if (secretSource(env, variables, inVault) !== undefined) return post
  const [what, how] = Object.hasOwn(variables, env)
    ? ['is empty in .dev.vars', 'give it a value there, or remove the line: it hides the vault']
    : ['is not set', `stack secret set ${env} --stdin   (${callOf(vault.put, { name: env })})`]
  return `${post}
               ! ${env} ${what}: every delivery is refused
                 ${how}`
}

/** The scheduled methods, each below the title of the first. */
function cronsText(crons: readonly Cron[]): string {
  const width = Math.max(...crons.map(({ schedule }) => schedule.length))
  return crons
    .map(({ schedule, class: className, handler }, index) => {
      return `  ${index === 0 ? 'Scheduled' : '         '}  ${schedule.padEnd(width)}  ${className}.${handler}\n`
    })
    .join('')
}

/** A relative path for a file below the working directory, else the absolute one. */
function shownPath(file: string): string {
  const relative = path.relative(workingDirectory(), file)
  return relative.startsWith('..') ? file : relative
}

/** Commands that work as they are printed, made of the project's own routes and webhooks. */
function tryText(
  { root, roles }: LocatedProject,
  { record, built }: LocalStack,
  variables: Record<string, string>,
): string {
  const at = (path: string) => shellWord(`${record.base_url}${path}`)
  const { routes, webhooks } = built.table
  const gated = routes.filter(({ method, path, gate }) => method === 'GET' && gate.required && !path.includes(':'))
  const open = gated.find((route) => !asks(route))
  const defaultRole = roles.find((role) => role.default)
  const isRefused = ({ gate }: Route) =>
    gate.role === undefined
      ? gate.permission !== undefined && !defaultRole?.permissions.some((held) => covers(held, gate.permission!))
      : gate.role !== defaultRole?.name
  const refused = gated.find(isRefused)
  const webhook = webhooks.find(({ provider, secret }) => provider === 'payments' && variables[secret.env])
  const commands: string[] = []
  if (open) commands.push(signUpCommand(at(passwords.signUp.path), at(open.path)))
  if (webhook) commands.push(paymentCommand(root, webhook, at(`/webhooks/${webhook.name}`)))
  if (refused && open) {
    commands.push(`  # see a refusal: ${describeGate(refused.gate)}
  curl -si -w '\\n' ${at(refused.path)} \\
    -H "authorization: Bearer $TOKEN"`)
  } else if (open) {
    commands.push(`  # see a refusal: the request has no token\n  curl -si -w '\\n' ${at(open.path)}`)
  }
  return commands.length > 0 ? `\n${commands.join('\n\n')}\n` : ''
}

/** Whether a signed-in user needs more than a token. */
function asks({ gate }: Route): boolean {
  return (
    gate.role !== undefined || gate.permission !== undefined || gate.verifiedEmail === true || gate.device !== undefined
  )
}

function signUpCommand(signUp: string, route: string): string {
  return `  # sign up, and call a route that requires it
  TOKEN=$(curl -s ${signUp} \\
    -H 'content-type: application/json' \\
    -d "{\\"email\\":\\"ada$RANDOM@example.com\\",\\"password\\":\\"correct horse\\"}" |
    sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -si -w '\\n' ${route} \\
    -H "authorization: Bearer $TOKEN"`
}

/** The command reads the secret from `.dev.vars` itself, so that the secret is not printed. */
function paymentCommand(root: string, { events, secret }: Webhook, address: string): string {
  const read = 'require("util").parseEnv(require("fs").readFileSync(process.argv[1], "utf8"))'
  const file = shellWord(shownPath(path.join(root, projectPaths.devVars)))
  const body = JSON.stringify({ type: events[0]!.key, data: { order: 1 } })
  return `  # deliver a signed payment
  T=$(date +%s) BODY=${shellWord(body)}
  SECRET=$(node -p ${shellWord(`${read}.${secret.env}`)} -- ${file})
  V1=$(printf '%s.%s' "$T" "$BODY" |
    openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)
  curl -si -w '\\n' ${address} \\
    -H "x-payments-signature: t=$T,v1=$V1" -d "$BODY"`
}
