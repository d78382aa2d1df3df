/** Projects that a test writes, builds and forgets. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { build } from '../../build/index.ts'
import type { BuildOptions, BuildResult } from '../../build/options.ts'
import { render } from '../../build/render.ts'
import { projectTarget } from '../../build/targets.ts'
import { type DeclaredRole, readProject } from '../../src/wire/project.ts'

/** @param files contents by path; removed when the test ends. @returns the folder, absolute. */
export function temporaryProject(files: Record<string, string>): string {
  const root = temporaryFolder()
  for (const [name, contents] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    fs.writeFileSync(path.join(root, name), contents)
  }
  return root
}

export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-test-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** As `stack/roles.json` would declare it: what the fixtures' rules ask for. */
export const declaredRole = (name: string): DeclaredRole => ({ name, default: false, permissions: ['orders.*'] })

/** @param roles names that `stack/roles.json` would declare. */
export function targetOf(root: string, roles: string[] = [], out?: string): BuildOptions {
  const file = path.join(root, 'stack/project.json')
  const declared = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : { project: 'test' }
  return projectTarget(root, readProject(declared), roles.map(declaredRole), out)
}

export function buildProject(root: string, roles: string[] = []): Promise<BuildResult> {
  return build(targetOf(root, roles))
}

/** As a terminal without colour shows them. */
export function rendered(root: string, { refusals }: BuildResult): string {
  const sourceOf = (file: string) => {
    const source = path.join(root, file)
    return fs.existsSync(source) ? fs.readFileSync(source, 'utf8') : undefined
  }
  return render(refusals, { sourceOf })
}

/** A project of this repository in another folder, with the packages that it imports. */
export function copyProject(source: string, target: string): void {
  fs.cpSync(source, target, { recursive: true, filter: (name) => !name.includes('.stack') })
  linkPackages(target)
}

/** This repository's packages, for a project that imports some; those that it has itself stay. */
export function linkPackages(root: string): void {
  const installed = path.resolve(import.meta.dirname, '../../node_modules')
  const target = path.join(root, 'node_modules')
  fs.mkdirSync(target, { recursive: true })
  const own = new Set(fs.readdirSync(target))
  for (const name of fs.readdirSync(installed)) {
    if (!own.has(name)) fs.symlinkSync(path.join(installed, name), path.join(target, name), 'junction')
  }
}
