/** Configurations for those who run a stack without `stack serve`, or under an orchestrator. They hold no secret. */
import path from 'node:path'
import { moduleNames } from '../../local/bundle.ts'
import type { DeclaredRole, Project } from '../../src/wire/project.ts'
import type { StorageTarget } from '../storage/target.ts'
import { bindingNames } from './bindings.ts'
import { bundlesOf } from './builds.ts'
import { variableOf, workerdConfig } from './config.ts'
import { trustedNetworks } from './proxies.ts'
import { workerSources } from './worker-sources.ts'

export interface PrintOptions {
  root: string
  /** The name of the project. */
  name: string
  project: Project
  roles: readonly DeclaredRole[]
  host: string
  port: number
  out?: string
  trustProxy?: string
  accessLog: boolean
  grace: number
  metricsPort: number
  storage: StorageTarget
}

/** @throws BuildRefused, because workerd's configuration names the modules of a build. */
export async function printedConfig(
  kind: 'workerd' | 'dockerfile' | 'systemd' | 'all',
  options: PrintOptions,
): Promise<string> {
  const parts = {
    workerd: () => workerdText(options),
    dockerfile: async () => dockerfile(options),
    systemd: async () => systemdUnit(options),
  }
  if (kind !== 'all') return parts[kind]()
  const texts = await Promise.all([parts.workerd(), parts.dockerfile(), parts.systemd()])
  const [workerd, docker, systemd] = texts
  return `# ---- workerd.capnp\n${workerd}\n# ---- Dockerfile\n${docker}\n# ---- ${options.name}.service\n${systemd}`
}

async function workerdText(options: PrintOptions): Promise<string> {
  const { root, project, roles, out, host, port, trustProxy, accessLog, storage } = options
  const bundles = await bundlesOf({ root, project, roles, built: out })
  const shown = (folder: string) => path.relative(root, folder).split(path.sep).join('/')
  const config = workerdConfig({
    backend: { out: bundles.backend, shown: shown(bundles.backend), bindings: bindingNames.backend },
    auth: { out: bundles.auth, shown: shown(bundles.auth), bindings: bindingNames.auth },
    sources: await workerSources(),
    front: { trusted: trustedNetworks(trustProxy ?? ''), logsRequests: accessLog },
    storage,
    storageSocket: '.stack/storage.socket',
    control: 'unix:.stack/control.socket',
    address: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    certificates: [],
  })
  const variables = (['backend', 'auth'] as const).flatMap((worker) =>
    bindingNames[worker].map((name) => `#   ${variableOf(worker, name)}`),
  )
  return `# The stack "${options.name}" for workerd. Save it in the project's folder, beside .stack/, and run:
#   workerd serve --experimental workerd.capnp config
# It builds on ${moduleNames(bundles.backend).length} + ${moduleNames(bundles.auth).length} modules that \`stack build\` and \`stack serve\` leave in .stack/.
# The values of its bindings are in the environment, under these names. A variable that is not set leaves its binding empty:
${variables.join('\n')}
# Without \`stack serve\` you migrate the database, fire the schedules (POST /scheduled on the control socket) and restart workerd
# yourself. \`Storage\` then needs --storage s3://…, because \`stack serve\` itself serves a folder.
${config}`
}

/** Environment variables that the image and the unit need at least. */
const required = ['DATABASE_URL', 'STACK_URL']
/** Secrets that must be the same wherever the stack is served. */
const shared = [
  'SEALING_KEY',
  'PASSWORD_PEPPER',
  'REFRESH_KEY',
  'CLAIMS_KEY',
  'SERVICE_ROLE_KEY',
  'DATABASE_LOGIN_KEY',
  'AUTH_AUDIENCE',
]

function dockerfile({ port, grace, metricsPort }: PrintOptions): string {
  return `FROM node:22-slim
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npx stack build && chown -R node:node /app/.stack
USER node
# Secrets come when the container runs, as variables or as files (NAME_FILE): ${required.join(', ')},
# and for more than one container: ${shared.join(', ')}.
# Without these, mount a volume on /state, where they are made once and kept.
VOLUME /state
EXPOSE ${port}
STOPSIGNAL SIGTERM
HEALTHCHECK CMD node -e "fetch('http://127.0.0.1:${metricsPort}/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"
# Run it with \`docker run --init --stop-timeout ${grace + 10}\`, so that requests in flight are finished.
CMD ["node_modules/.bin/stack", "serve", "--host", "0.0.0.0", "--port", "${port}", "--state", "/state", "--grace", "${grace}"]
`
}

function systemdUnit({ name, root, port, grace }: PrintOptions): string {
  // systemd has escapes of its own: a percent sign begins a specifier
  const folder = root.replaceAll('%', '%%')
  return `[Unit]
Description=${name.replaceAll('%', '%%')}, served by stack
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
WorkingDirectory=${folder}
# Holds ${required.join(' and ')}, readable by root alone. Several machines also share ${shared.join(', ')}.
EnvironmentFile=/etc/${name}/environment
ExecStart=/usr/bin/env node_modules/.bin/stack serve --port ${port} --state /var/lib/${name} --grace ${grace}
ExecReload=/bin/kill -HUP $MAINPID
KillMode=mixed
TimeoutStopSec=${grace + 10}
Restart=always
RestartSec=2
User=${name}
StateDirectory=${name}
StateDirectoryMode=0700
NoNewPrivileges=true
PrivateTmp=true
ProtectSystem=strict
ReadWritePaths=${folder}/.stack
ProtectHome=read-only
LimitNOFILE=65536

[Install]
WantedBy=multi-user.target
`
}
