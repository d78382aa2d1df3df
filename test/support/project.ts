/** Projects that a test writes and builds. They are removed with the test. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { build } from '../../build/index.ts'
import type { BuildOptions, BuildResult } from '../../build/options.ts'
import { render } from '../../build/render.ts'
import { projectTarget } from '../../build/targets.ts'
import { type DeclaredRole, readProject } from '../../src/wire/project.ts'

/**
 * Writes a project that is removed when the test ends.
 * @param files contents by path.
 * @returns the absolute path of the project's folder.
 */
export function temporaryProject(files: Record<string, string>): string {
  const root = temporaryFolder()
  for (const [name, contents] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    fs.writeFileSync(path.join(root, name), contents)
  }
  return root
}

/** Makes a folder that is removed when the test ends. */
/** Makes a folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-test-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A role as `stack/roles.json` declares it, with the permissions that the rules of the fixtures ask for. */
export const declaredRole = (name: string): DeclaredRole => ({ name, default: false, permissions: ['orders.*'] })

/**
 * @param roles the names that `stack/roles.json` would declare.
 * @param administered path prefixes of administrative routes, which only the auth module has.
 */
export function targetOf(
  root: string,
  roles: string[] = [],
  out?: string,
  administered?: readonly string[],
): BuildOptions {
  const file = path.join(root, 'stack/project.json')
  const declared = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : { project: 'test' }
  const target = projectTarget(root, readProject(declared), roles.map(declaredRole), out)
  return administered ? { ...target, administered } : target
}

export function buildProject(
  root: string,
  roles: string[] = [],
  administered?: readonly string[],
): Promise<BuildResult> {
  return build(targetOf(root, roles, undefined, administered))
}

/** @returns the refusals as a terminal without colour shows them. */
export function rendered(root: string, { refusals }: BuildResult): string {
  const sourceOf = (file: string) => {
    const source = path.join(root, file)
    return fs.existsSync(source) ? fs.readFileSync(source, 'utf8') : undefined
  }
  return render(refusals, { sourceOf })
}

/** Copies a project of this repository to another folder, with the packages that it imports. */
export function copyProject(source: string, target: string): void {
  fs.cpSync(source, target, { recursive: true, filter: (name) => !name.includes('.stack') })
  linkPackages(target)
}

/** Links the packages of this repository into a project. Packages that the project has already stay. */
export function linkPackages(root: string): void {
  const installed = path.resolve(import.meta.dirname, '../../node_modules')
  const target = path.join(root, 'node_modules')
  fs.mkdirSync(target, { recursive: true })
  const own = new Set(fs.readdirSync(target))
  for (const name of fs.readdirSync(installed)) {
    if (!own.has(name)) fs.symlinkSync(path.join(installed, name), path.join(target, name), 'junction')
  }
}
