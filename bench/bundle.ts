/** Modules for workerd: those that the build makes of a project, and those of a worker that was written by hand. */
import * as fs from 'node:fs'
import path from 'node:path'
import esbuild from 'esbuild'
import { build } from '../build/index.ts'
import { projectTarget } from '../build/targets.ts'
import type { WorkerModule } from './workerd.ts'

/**
 * @param folder where the project is written.
 * @param source the source of its only file.
 */
export async function builtModules(folder: string, source: string): Promise<WorkerModule[]> {
  const entry = 'src/app.module.ts'
  const file = path.join(folder, entry)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, source)
  const { built, refusals } = await build(projectTarget(folder, { project: 'bench', entry, budgetKib: 100_000 }, []))
  if (!built) throw new Error(`the project is refused: ${JSON.stringify(refusals)}`)
  const out = path.join(folder, '.stack/out')
  const others = fs.readdirSync(out).filter((name) => name.endsWith('.js') && name !== 'worker.js')
  return ['worker.js', ...others].map((name) => ({ name, contents: fs.readFileSync(path.join(out, name)) }))
}

/**
 * Bundles and minifies a file, as the build does. Compiled modules of WebAssembly stay modules of their own.
 * @param define expressions that replace names which the file declares.
 */
export async function bundle(file: string, define: Record<string, string> = {}): Promise<WorkerModule[]> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [file],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    define,
    loader: { '.wasm': 'copy' },
    outdir: '/',
  })
  const [entry, ...others] = outputFiles.sort((one, other) => rank(one.path) - rank(other.path))
  const modules = others.map(({ path: file, contents }) => ({ name: path.basename(file), contents }))
  return [{ name: 'worker.js', contents: entry!.contents }, ...modules]
}

/** workerd takes the first module as the entry. */
function rank(file: string): number {
  return file.endsWith('.js') ? 0 : 1
}
