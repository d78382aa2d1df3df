/**
 * Makes `dist/`, the package as it is published: JavaScript for Node, which strips no types below node_modules, the sources that
 * the compiler bundles, types for projects, and a package.json without the fields that only a clone needs.
 */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const dist = path.join(root, 'dist')

/** @returns the folder of the package. */
export function pack(): string {
  fs.rmSync(dist, { recursive: true, force: true })
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
  const project = path.join(root, 'tools/tsconfig.pack.json')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stdout)
  for (const name of ['src', 'runtime', 'deploy/workers', 'bin']) {
    fs.cpSync(path.join(root, name), path.join(dist, name), {
      recursive: true,
      filter: (file) => !/tsconfig\.json$/.test(file),
    })
  }
  for (const name of ['README.md', 'CHANGELOG.md', 'docs', 'templates']) {
    fs.cpSync(path.join(root, name), path.join(dist, name), { recursive: true })
  }
  fs.writeFileSync(path.join(dist, 'package.json'), `${JSON.stringify(publishedManifest(), undefined, 2)}\n`)
  return dist
}

function publishedManifest(): object {
  const { name, version, description, type, bin, engines, dependencies, optionalDependencies } = JSON.parse(
    fs.readFileSync(path.join(root, 'package.json'), 'utf8'),
  )
  const exports = {
    '.': { types: './types/src/sdk/index.d.ts', default: './src/sdk/index.js' },
    './package.json': './package.json',
  }
  const files = fs.readdirSync(dist).filter((entry) => entry !== 'package.json')
  return { name, version, description, type, bin, exports, files, engines, dependencies, optionalDependencies }
}
