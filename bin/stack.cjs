#!/usr/bin/env node
'use strict'
const { existsSync } = require('node:fs')
const path = require('node:path')
const { run } = require('./with-node.cjs')

/** Words that load neither the compiler nor the local stack. They run on Node 20, before a project has brought a newer Node. */
const light = new Set([undefined, 'init', 'help', 'completion', '__complete', '--version', '-V'])

// A clone runs its TypeScript. The published package holds JavaScript, because Node strips no types below node_modules.
const compiled = path.join(__dirname, '../cli/main.js')
const args = process.argv.slice(2)
if (existsSync(compiled)) run(compiled, args, light.has(args[0]) || args.includes('--help') || args.includes('-h'))
else run(path.join(__dirname, '../cli/main.ts'), args)
