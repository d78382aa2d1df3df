/** Builds and serves each change of the source while the stack runs. A build that fails leaves the last good one serving. */
import path from 'node:path'
import { projectTarget } from '../build/targets.ts'
import { type DocumentsOutcome, type Outcome, type Watch, watchProject } from '../build/watch.ts'
import type { DeclaredRole, Project } from '../src/wire/project.ts'
import type { DeclaredTemplate } from '../src/wire/templates.ts'
import type { Declarations } from './management.ts'

interface Declared {
  project: Project
  roles: DeclaredRole[]
  templates: DeclaredTemplate[]
  /** The lines of `.dev.vars`. */
  variables: Record<string, string>
}

type BuiltOutcome = Extract<Outcome, { kind: 'built' }>

export type Change =
  | Exclude<Outcome, { kind: 'built' }>
  /** `client.d.ts`, `client.js` and `openapi.json` are written with warnings, or could not be written. */
  | DocumentsOutcome
  /** Built and serving. */
  | (BuiltOutcome & { servedAfterMs: number })
  /** Built, and the bundle does not start: the last one serves. */
  | { kind: 'not-started'; error: Error }
  | { kind: 'variables' }
  /** A change that only the next start of the stack takes up. */
  | { kind: 'later'; files: readonly string[] }

export interface WatchOptions {
  /** Reads the declared files. @throws Error when one of them cannot be read. */
  declared: () => Declared
  /** Called with absolute paths. */
  onChange: (change: Change, changed: readonly string[]) => void
}

interface RunningStack {
  /** Absolute path of the project. */
  root: string
  /**
   * Serves what was built, with these variables.
   * @returns whether anything was new. @throws Error when the bundle does not start.
   */
  serve: (variables: Record<string, string>) => Promise<boolean>
  declare: (declared: Declarations) => Promise<void>
}

/** Resolves when the first build is done and changes are seen. */
export async function watchSource(stack: RunningStack, { declared, onChange }: WatchOptions): Promise<Watch> {
  const { root, serve, declare } = stack
  const textOf = ({ roles, templates }: Declarations) => JSON.stringify([roles, templates])
  let known = textOf(declared())

  async function onBuilt(outcome: BuiltOutcome, changed: readonly string[]): Promise<void> {
    const began = performance.now()
    const { roles, templates, variables } = declared()
    let isNew: boolean
    try {
      isNew = await serve(variables)
    } catch (error) {
      return onChange({ kind: 'not-started', error: error as Error }, changed)
    }
    // The first build only warms up, because the same source is served already. A migration is reported by `onOther`.
    const isMigration = (file: string) => path.relative(root, file).startsWith(`migrations${path.sep}`)
    if (!isNew && outcome.refusals.length === 0 && changed.every(isMigration)) return
    const text = textOf({ roles, templates })
    if (text !== known) await declare({ roles, templates })
    known = text
    onChange({ ...outcome, servedAfterMs: performance.now() - began }, changed)
  }

  async function onOther(changed: readonly string[]): Promise<void> {
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
      await (outcome.kind === 'built' ? onBuilt(outcome, changed) : onChange(outcome, changed))
    },
    onDocuments(outcome, changed) {
      if (outcome.kind === 'not-documented' || outcome.refusals.length > 0) onChange(outcome, changed)
    },
    onStackFiles: onOther,
  })
}
