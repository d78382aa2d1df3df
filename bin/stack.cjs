#!/usr/bin/env node
'use strict'
const { existsSync } = require('node:fs')
const path = require('node:path')

const args = process.argv.slice(2)
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  // Scripts ask for the version often, and an answer from here needs neither a newer Node nor the command's modules.
  process.stdout.write(`${require('../package.json').version}\n`)
} else {
  // A clone runs its TypeScript. The published package holds JavaScript, because Node strips no types below node_modules.
  const compiled = path.join(__dirname, '../cli/main.js')
  require('./with-node.cjs').run(existsSync(compiled) ? compiled : path.join(__dirname, '../cli/main.ts'), args)
}
