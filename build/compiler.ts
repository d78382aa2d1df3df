/** One project, read, judged, linked and emitted: once, or again after each change. */
import * as fs from 'node:fs'
import path from 'node:path'
import { applicationOf } from './application.ts'
import { collectGarbage } from './collect.ts'
import type { Span } from './declaration.ts'
import { createTypeReader } from './emit/answers.ts'
import { bindingsFile } from './emit/bindings.ts'
import { createBundler } from './emit/bundle.ts'
import { withCoercions } from './emit/coercions.ts'
import { documents } from './emit/documents.ts'
import { located } from './emit/inspect.ts'
import { createSchemaReader } from './emit/json-schemas.ts'
import { sizeOf } from './emit/report.ts'
import { keepOnly, writeTogether } from './emit/write.ts'
import type { BuildOptions, BuildResult } from './index.ts'
import { type Linked, link } from './link/index.ts'
import { openProgram } from './program.ts'
import { isLost } from './read/imports.ts'
import { createReader } from './read/index.ts'
import { migrationsOf } from './read/migrations.ts'
import type { Refusal } from './refusals/index.ts'
import { byPlace, checkApplication } from './refuse/index.ts'

/** A project that is built again and again: what did not change is not read again. */
export interface Compiler {
  /** Refusals and the table. @param touched absolute paths of all that has changed since the last time. */
  check(touched?: ReadonlySet<string>): { refusals: Refusal[]; linked: Linked | undefined }
  /** What bundling would refuse besides, in a project that is refused already. */
  survey(): Promise<Refusal[]>
  /** Bundles and writes what was checked. */
  emit(checked: { refusals: Refusal[]; linked: Linked }): Promise<BuildResult>
  /** Absolute paths of every source that was read. */
  reads(): string[]
  close(): Promise<void>
}

const nothingRead = { facts: [], refusals: [] }

/** From here on, what was read and what the bundler answers would be large together. */
const manyFiles = 2000

const packageRoot = path.resolve(import.meta.dirname, '..')

/** @param isLast only one check follows: what a second one would need is forgotten before the bundle is made. */
export function openCompiler({
  root,
  entry,
  out,
  reserved,
  databaseRoles,
  administered,
  maxBodyBytes,
  rpc = [],
  project,
  budgetKib = Number.POSITIVE_INFINITY,
  isLast = false,
}: BuildOptions & { isLast?: boolean }): Compiler {
  const program = openProgram(root, entry)
  let read = createReader(program)
  /** Those that parse, and whose imports lead somewhere: the others are refused already. */
  const soundFiles = () =>
    program.sources.listed.filter((absolute) => {
      const file = program.sources.read(absolute)
      return !file.failure && file.errors.length === 0 && !file.needs.some((need) => isLost(program, file, need))
    })
  const isLostAt = ({ file: name, start }: Span) => {
    const absolute = path.join(root, name)
    if (!program.sources.isRead(absolute)) return false
    const file = program.sources.read(absolute)
    return file.needs.some((need) => need.place.start === start && isLost(program, file, need))
  }
  const context = { reserved, administered, roles: project?.roles ?? [] }
  const folder = path.join(out, 'out')
  const bundler = createBundler({ program, packageRoot, folder, budget: budgetKib * 1024 })
  const schemas = createSchemaReader(program, packageRoot)
  const types = createTypeReader(
    program,
    packageRoot,
    (project?.roles ?? []).map(({ name }) => name),
  )
  return {
    check(touched) {
      if (touched) program.refresh(touched)
      const application = applicationOf(read())
      const refusals = checkApplication(application, context).map((one) => located(one, program))
      const isRefused = refusals.some(({ severity }) => severity === 'error')
      const linked = isRefused ? undefined : link(application, { databaseRoles, maxBodyBytes, rpc })
      if (linked && isLast) {
        program.sources.trim()
        read = createReader(program) // with it goes what it remembers
      }
      return { refusals, linked }
    },
    async survey() {
      const found = await bundler.survey(soundFiles())
      // a sound file may import one that is not: what that one imports in vain is said already
      return found.filter(({ slug, place }) => slug !== 'bundle-failed' || !isLostAt(place))
    },
    async emit(checked) {
      if (isLast && program.sources.listed.length > manyFiles) collectGarbage()
      const isRead = project !== undefined || checked.linked.schemas.some(({ injector }) => injector !== 'Body')
      const { facts, refusals: ofSchemas } = isRead ? await schemas.read(checked.linked) : nothingRead
      const linked = withCoercions(checked.linked, facts)
      const { files, refusals: ofBundle, inputs } = await bundler.bundle(linked)
      const found = [...checked.refusals, ...ofSchemas, ...ofBundle]
      if (files.length === 0 || found.some(({ severity }) => severity === 'error'))
        return { refusals: found.sort(byPlace), built: undefined }
      const { table } = linked
      const hasDatabase = files.some(({ name }) => name === 'driver.js')
      const described = project && documents(linked, { ...project, root, program, facts, types, hasDatabase })
      const refusals = [...found, ...(described?.refusals ?? [])].sort(byPlace)
      const texts = described?.files ?? []
      const written = [
        { file: path.join(out, 'table.json'), contents: () => `${JSON.stringify(table, undefined, 2)}\n` },
        ...texts.map(({ name, contents }) => ({ file: path.join(out, name), contents })),
        // the worker comes last: it refers to the others
        ...files
          .sort((a, b) => Number(a.name === 'worker.js') - Number(b.name === 'worker.js'))
          .map(({ name, contents }) => ({ file: path.join(folder, name), contents })),
      ]
      writeTogether(written)
      // of all documents the one that a project may come to need no more
      if (!texts.some(({ name }) => name === bindingsFile)) fs.rmSync(path.join(out, bindingsFile), { force: true })
      keepOnly(folder, new Set(files.map(({ name }) => name)))
      const sizes = files.filter(({ name }) => !name.endsWith('.map')).map(sizeOf)
      const known = [
        ...new Set([
          ...inputs,
          ...(described?.inputs ?? []),
          ...program.sources.absolutes(),
          ...program.configurations(),
          ...migrationsOf(program.root),
        ]),
      ]
      return {
        refusals,
        built: {
          table,
          sizes,
          inputs: known,
          outputs: written.map(({ file }) => file),
          isSelfContained: program.isSelfContained(),
        },
      }
    },
    reads: program.sources.absolutes,
    close: bundler.close,
  }
}
