#!/usr/bin/env node
'use strict'
const { existsSync } = require('node:fs')
const path = require('node:path')
const { run } = require('./with-node.cjs')

// A clone runs its TypeScript. The published package holds JavaScript, because Node strips no types below node_modules.
const compiled = path.join(__dirname, '../cli/main.js')
run(existsSync(compiled) ? compiled : path.join(__dirname, '../cli/main.ts'), process.argv.slice(2))
