/** The command `stack`: argv in, an exit code out. */
import nodeModule from 'node:module'
import path from 'node:path'
import { CommanderError } from 'commander'
import { createProgram } from './program.ts'
import { exitCodes, Failure } from './shared/failure.ts'

// Modules that load late, TypeScript above all, are compiled once for all runs. A folder that cannot be written is ignored.
// Node 20, on which `init` and help run too, has no such cache.
nodeModule.enableCompileCache?.(path.join(import.meta.dirname, '../node_modules/.cache/stack'))

try {
  const [word, ...typed] = process.argv.slice(2)
  if (word === '__complete') {
    const { completionsOf } = await import('./completion/complete.ts')
    process.stdout.write(
      completionsOf(createProgram(), typed)
        .map((one) => `${one}\n`)
        .join(''),
    )
    process.exit(0)
  }
  await createProgram().parseAsync()
  process.exit(0)
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : exitCodes.usage)
  if (error instanceof Error && 'syscall' in error) {
    process.stderr.write(`error: ${error.message}\n`) // a full disk or a read-only folder is no fault of this code
    process.exit(exitCodes.refused)
  }
  if (!(error instanceof Failure)) throw error
  if (error.message) process.stderr.write(error.isWhole ? `${error.message}\n` : `error: ${error.message}\n`)
  process.exit(error.exitCode)
}
