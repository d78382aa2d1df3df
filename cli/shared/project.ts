/** The project that a command is about, and its declared files (contract 1.3, 1.7). */
import * as fs from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { type DeclaredRole, type Project, readProject, readRoles } from '../../src/wire/project.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'
import { type DeclaredTemplate, mostTemplates, readTemplate } from '../../src/wire/templates.ts'
import { readDeclared } from './declared-file.ts'
import { Failure } from './failure.ts'
import { workingDirectory } from './working-directory.ts'

export interface LocatedProject {
  /** Absolute path. */
  root: string
  project: Project
  roles: DeclaredRole[]
  templates: DeclaredTemplate[]
}

/**
 * @param named the value of `--project`. The default is the nearest folder upwards from the working directory.
 * @throws Failure with file, line and column of a declared file that is not valid.
 */
export function locateProject(named: string | undefined): LocatedProject {
  const root = named === undefined ? nearestProject(workingDirectory()) : resolveNamed(named)
  // esbuild never answers for a path with a double quote.
  if (root.includes('"'))
    throw new Failure('usage', `the path ${root} holds a double quote, which the bundler cannot take`)
  const rolesFile = path.join(root, projectPaths.roles)
  return {
    root: fs.realpathSync(root), // watchers and bundlers name files by their real paths, without symbolic links
    project: readDeclared(path.join(root, projectPaths.project), readProject),
    roles: fs.existsSync(rolesFile) ? readDeclared(rolesFile, readRoles) : [],
    templates: readTemplates(path.join(root, projectPaths.templates)),
  }
}

/** Reads each `.json` file of the folder, in the order of their names. Files of other kinds are none of a template's. */
function readTemplates(folder: string): DeclaredTemplate[] {
  const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => /^[^.].*\.json$/.test(name)) : []
  const shown = path.relative(workingDirectory(), folder)
  if (names.length > mostTemplates)
    throw new Failure('usage', `${shown} has ${names.length} templates: a project declares ${mostTemplates} at most`)
  const files = new Map<string, string>()
  return names.sort().map((name) => {
    const template = readDeclared(path.join(folder, name), (json) => readTemplate(json, name.slice(0, -'.json'.length)))
    const other = files.get(template.key)
    if (other !== undefined)
      throw new Failure('usage', `${path.join(shown, name)} declares the template "${template.key}", as ${other} does`)
    files.set(template.key, name)
    return template
  })
}

/**
 * Looks for the project from the folder where the command was typed, then from the working directory, to which `npm run` moves.
 * @throws Failure where neither leads to a project file.
 */
function resolveNamed(named: string): string {
  const candidates = [path.resolve(workingDirectory(), named), path.resolve(named)]
  const root = candidates.find((candidate) => fs.existsSync(path.join(candidate, projectPaths.project)))
  if (!root) throw new Failure('usage', `${candidates[0]} is no project: it has no ${projectPaths.project}`)
  return root
}

function nearestProject(from: string): string {
  for (let folder = from; ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, projectPaths.project))) return folder
    if (path.dirname(folder) === folder) {
      throw new Failure(
        'usage',
        `no ${projectPaths.project} here or in a folder above: stand in a project, or name one with --project`,
      )
    }
  }
}

/** @returns the bindings of `.dev.vars`, which the local stack gives the backend worker (contract 1.6). */
export function devVars(root: string): Record<string, string> {
  const file = path.join(root, projectPaths.devVars)
  return fs.existsSync(file) ? (parseEnv(fs.readFileSync(file, 'utf8')) as Record<string, string>) : {}
}
