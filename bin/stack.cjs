#!/usr/bin/env node
'use strict'
const { existsSync } = require('node:fs')
const path = require('node:path')

/** Words that load neither the compiler nor the local stack. They run on Node 20, before a project has brought a newer Node. */
const light = new Set([undefined, 'init', 'help', 'completion', '__complete'])

const args = process.argv.slice(2)
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  // Scripts ask for the version often, and an answer from here needs neither a newer Node nor the command's modules.
  process.stdout.write(`${require('../package.json').version}\n`)
} else {
  const { run } = require('./with-node.cjs')
  // A clone runs its TypeScript. The published package holds JavaScript, because Node strips no types below node_modules.
  const compiled = path.join(__dirname, '../cli/main.js')
  if (existsSync(compiled)) run(compiled, args, light.has(args[0]) || args.includes('--help') || args.includes('-h'))
  else run(path.join(__dirname, '../cli/main.ts'), args)
}
