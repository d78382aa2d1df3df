/** The command `stack`: argv in, an exit code out. */
import { enableCompileCache } from 'node:module'
import path from 'node:path'
import { Command, CommanderError } from 'commander'
import { exitCodes, Failure } from './failure.ts'
import { addVerb, verbs } from './verbs.ts'
import { version } from './version.ts'

// what is loaded later, TypeScript above all, is compiled once for all runs; where that folder cannot be written, it is not
enableCompileCache(path.join(import.meta.dirname, '../node_modules/.cache/stack'))

const program = new Command('stack')
  .description('Run a backend at the edge: compile decorated classes, and run them with a real Postgres')
  .version(version)
  .exitOverride()
  .showSuggestionAfterError()
for (const verb of verbs) addVerb(program, verb)
const refuseUsage = (command: Command) => {
  command.exitOverride()
  command.commands.forEach(refuseUsage)
}
refuseUsage(program)

try {
  await program.parseAsync()
  process.exit(0)
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : exitCodes.usage)
  if (error instanceof Error && 'syscall' in error) {
    process.stderr.write(`error: ${error.message}\n`) // the disk is full, a folder is read-only: no fault of this code
    process.exit(exitCodes.refused)
  }
  if (!(error instanceof Failure)) throw error
  if (error.message) process.stderr.write(error.isWhole ? `${error.message}\n` : `error: ${error.message}\n`)
  process.exit(error.exitCode)
}
