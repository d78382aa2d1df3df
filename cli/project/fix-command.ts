import { shellWord } from '../shared/shell.ts'

/** The command that applies the exact fixes. @param project the value of `--project`. */
export function fixCommandOf(project: string | undefined): string {
  return project === undefined ? 'stack build --fix' : `stack build --fix --project ${shellWord(project)}`
}
