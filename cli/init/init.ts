/** `stack init [<dir>]`: a new project from a template of this package. It runs on an older Node too, and downloads nothing but packages. */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { nearest } from '../../src/wire/nearest.ts'
import { ask, isInteractive } from '../shared/confirm.ts'
import { Failure } from '../shared/failure.ts'
import { eatenFlags } from '../shared/npm.ts'
import { printJson } from '../shared/output.ts'
import { shellWord } from '../shared/shell.ts'
import { workingDirectory } from '../shared/working-directory.ts'
import { backendSpecifier, filesOf, needsNode, nodeVersion, type TemplateName, templates } from './template.ts'

export interface InitFlags {
  template?: string
  yes?: boolean
  /** commander sets these to false by `--no-install` and `--no-git`. */
  install: boolean
  git: boolean
  json?: boolean
}

export async function runInit(flags: InitFlags, dir: string | undefined): Promise<void> {
  const eaten = eatenFlags(['template', 'install', 'git'])
  if (eaten) throw new Failure('usage', eaten)
  if (flags.template !== undefined) requireTemplate(flags.template)
  const isAsking = flags.yes !== true && isInteractive()
  const given = dir ?? (isAsking ? await askDirectory() : undefined)
  if (given === undefined) {
    const hint = eatenFlags(['yes'])
    throw new Failure(
      'usage',
      `the folder of the project is missing. Usage: stack init <dir> [options]${hint ? `\n(${hint})` : ''}`,
    )
  }
  const root = path.resolve(workingDirectory(), given)
  const isNew = requireEmpty(root)
  const name = projectName(root)
  const template = (flags.template ?? (isAsking ? await askTemplate() : 'full')) as TemplateName
  const files = filesOf(template, name, backendSpecifier())
  place(root, isNew, files)
  const shown = path.relative(workingDirectory(), root) || '.'
  say(`created ${shown} with ${files.size} files, from the template ${template}`)
  if (needsNode())
    say(`this is Node ${process.version}: npm brings Node ${nodeVersion} for the scripts of this project`)
  const isRepository = flags.git && beginRepository(root)
  if (flags.install) install(root, shown)
  if (flags.json)
    await printJson({
      directory: root,
      project: name,
      template,
      files: [...files.keys()].sort(),
      git: isRepository,
      installed: flags.install,
    })
  const steps = [
    ...(shown === '.' ? [] : [`cd ${shellWord(shown)}`]),
    ...(flags.install ? [] : ['npm install']),
    'npm start',
  ]
  say(`next: ${steps.join(' && ')}`)
}

const say = (line: string) => process.stderr.write(`${line}\n`)

const cancelled = 'cancelled: nothing was made'

async function askDirectory(): Promise<string | undefined> {
  const answer = await ask('folder of the project: ', cancelled)
  return answer?.trim() || undefined
}

async function askTemplate(): Promise<string> {
  const lines = Object.entries(templates).map(([name, what]) => `  ${name.padEnd(10)}${what}\n`)
  const answer = await ask(`${lines.join('')}template [full]: `, cancelled)
  if (answer === undefined) throw new Failure('interrupted', cancelled, true)
  const name = answer.trim() || 'full'
  requireTemplate(name)
  return name
}

function requireTemplate(name: string): void {
  if (Object.hasOwn(templates, name)) return
  const near = nearest(name, Object.keys(templates))
  const rest = near ? `did you mean ${near}?` : `the templates are ${Object.keys(templates).join(', ')}`
  throw new Failure('usage', `there is no template ${JSON.stringify(name)}: ${rest}`)
}

/** Names of a folder that are listed in an error. */
const mostListed = 5

/** @returns whether the folder does not exist yet. @throws Failure for one with files in it, and for a file. */
function requireEmpty(root: string): boolean {
  let names: string[]
  try {
    names = fs.readdirSync(root).filter((name) => name !== '.git')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return true
    throw new Failure('usage', code === 'ENOTDIR' ? `${root} is a file` : message)
  }
  if (names.length === 0) return false
  const listed = names.sort().slice(0, mostListed).join(', ')
  const rest = names.length > mostListed ? ` and ${names.length - mostListed} more` : ''
  throw new Failure('usage', `${root} is not empty: it has ${listed}${rest}. Name a new folder: nothing was made`)
}

/** The name of the folder, in the form that a project's name has. */
function projectName(root: string): string {
  const name = path
    .basename(root)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
  if (name === '' || name === 'node_modules')
    throw new Failure(
      'usage',
      `"${path.basename(root)}" gives the project no name: begin the folder's with a letter or a digit`,
    )
  return name.slice(0, 100)
}

/**
 * Writes the project to a temporary folder and moves it to its place, so that an interrupted init leaves no half project there. A folder
 * that exists stays the same folder, because a shell may stand in it: then the temporary one is inside it.
 */
function place(root: string, isNew: boolean, files: ReadonlyMap<string, string>): void {
  const beside = path.join(isNew ? path.dirname(root) : root, `.${path.basename(root)}.${process.pid}.tmp`)
  try {
    for (const [name, contents] of files) {
      const file = path.join(beside, name)
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.writeFileSync(file, contents, { flag: 'wx' })
    }
    if (isNew) fs.renameSync(beside, root)
    else {
      for (const name of fs.readdirSync(beside)) fs.renameSync(path.join(beside, name), path.join(root, name))
      fs.rmdirSync(beside)
    }
  } catch (error) {
    fs.rmSync(beside, { recursive: true, force: true })
    throw error
  }
}

/** @returns whether a repository was made: not inside another one, and not where git is missing. */
function beginRepository(root: string): boolean {
  const inside = spawnSync('git', ['rev-parse', '--is-inside-work-tree'], { cwd: root, encoding: 'utf8' })
  if (inside.error || inside.stdout.trim() === 'true') return false
  return spawnSync('git', ['init', '--quiet'], { cwd: root, stdio: 'ignore' }).status === 0
}

/** Variables of the npm that runs this command, which would lead the new one to the wrong folder. */
const ofOuterNpm =
  /^(?:INIT_CWD|npm_(?:command|execpath|node_execpath|lifecycle_.*|package_.*|config_(?:local_prefix|package|call|yes|workspaces?)))$/i

/** npm prints to stderr. @throws Failure where it fails. The project stays. */
function install(root: string, shown: string): void {
  const began = performance.now()
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofOuterNpm.test(name)))
  const { status, error } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: root,
    env,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (error || status !== 0) {
    const reason = error ? `npm cannot be started (${error.message})` : `npm install ended with ${status}`
    throw new Failure(
      'refused',
      `error: ${reason}: the project is made. Run \`npm install\` in ${shown} when the reason above is mended`,
    )
  }
  say(`installed in ${Math.round((performance.now() - began) / 1000)} s`)
}
