/** While the stack runs: a source that changes is built again and served; what is not sound leaves the last good build serving. */
import path from 'node:path'
import { projectTarget } from '../build/targets.ts'
import { type DocumentsOutcome, type Outcome, type Watch, watchProject } from '../build/watch.ts'
import type { DeclaredRole, Project } from '../src/wire/project.ts'

interface Declared {
  project: Project
  roles: DeclaredRole[]
  /** Of `.dev.vars`. */
  variables: Record<string, string>
}

export type Change =
  | Exclude<Outcome, { kind: 'built' }>
  /** `client.d.ts`, `client.js` and `openapi.json` are written with warnings, or could not be written. */
  | DocumentsOutcome
  /** Built and serving. */
  | (Extract<Outcome, { kind: 'built' }> & { servedAfterMs: number })
  /** Built, and the bundle does not start: the last one serves. */
  | { kind: 'not-started'; error: Error }
  | { kind: 'variables' }
  /** Something that only a new start takes up. */
  | { kind: 'later'; files: readonly string[] }

export interface Following {
  /** @throws Error when a declared file cannot be read. */
  declared: () => Declared
  onChange: (change: Change, changed: readonly string[]) => void
}

interface FollowOptions {
  /** Absolute. */
  root: string
  follow: Following
  /** Serves what was built, with these variables. @returns whether there was anything new. @throws when it does not start. */
  serve: (variables: Record<string, string>) => Promise<boolean>
  declareRoles: (roles: readonly DeclaredRole[]) => Promise<void>
}

export async function followChanges({ root, follow, serve, declareRoles }: FollowOptions): Promise<Watch> {
  const { declared, onChange } = follow
  let knownRoles = JSON.stringify(declared().roles)

  async function built(outcome: Extract<Outcome, { kind: 'built' }>, changed: readonly string[]): Promise<void> {
    const began = performance.now()
    const { roles, variables } = declared()
    let isNew: boolean
    try {
      isNew = await serve(variables)
    } catch (error) {
      return onChange({ kind: 'not-started', error: error as Error }, changed)
    }
    // the first build only warms up: the same was built and is served already, unless it was edited meanwhile
    const isMigration = (file: string) => path.relative(root, file).startsWith(`migrations${path.sep}`)
    // nor is a migration served: `other` says what becomes of it
    if (!isNew && outcome.refusals.length === 0 && changed.every(isMigration)) return
    if (JSON.stringify(roles) !== knownRoles) await declareRoles(roles)
    knownRoles = JSON.stringify(roles)
    onChange({ ...outcome, servedAfterMs: performance.now() - began }, changed)
  }

  async function other(changed: readonly string[]): Promise<void> {
    const isNamed = (pattern: RegExp) => (file: string) =>
      pattern.test(path.relative(root, file).split(path.sep).join('/'))
    const migrations = changed.filter(isNamed(/^migrations\/[^/]+\.sql$/))
    if (migrations.length > 0) onChange({ kind: 'later', files: migrations }, migrations)
    if (!changed.some(isNamed(/^\.dev\.vars$/))) return
    try {
      if (await serve(declared().variables)) onChange({ kind: 'variables' }, changed)
    } catch (error) {
      onChange({ kind: 'not-started', error: error as Error }, changed)
    }
  }

  return watchProject({
    root,
    target() {
      const { project, roles } = declared()
      return projectTarget(root, project, roles)
    },
    async onOutcome(outcome, changed) {
      await (outcome.kind === 'built' ? built(outcome, changed) : onChange(outcome, changed))
    },
    onDocuments(outcome, changed) {
      if (outcome.kind === 'not-documented' || outcome.refusals.length > 0) onChange(outcome, changed)
    },
    onStackFiles: other,
  })
}
