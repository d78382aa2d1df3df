/** The words that complete a command line, found in commander's own tree. */
import type { Command } from 'commander'
import { locateProject } from '../shared/project.ts'
import { topics } from '../topics.ts'

/** @param typed the words after `stack`. The last one is not complete, and may be empty. */
export function completionsOf(program: Command, typed: readonly string[]): string[] {
  const partial = typed.at(-1) ?? ''
  const { command, before } = commandOf(program, typed.slice(0, -1))
  const option = command.options.find(({ long, short, required }) => required && (long === before || short === before))
  const words = option
    ? option.long === '--env'
      ? environments()
      : (option.argChoices ?? [])
    : partial.startsWith('-')
      ? ['--help', ...command.options.map(({ long }) => long!)]
      : wordsOf(program, command)
  return words.filter((word) => word.startsWith(partial)).sort()
}

/** The command that the words lead to, and the word before the one that is typed. */
function commandOf(program: Command, words: readonly string[]): { command: Command; before: string | undefined } {
  let command = program
  for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command
  return { command, before: words.at(-1) }
}

function wordsOf(program: Command, command: Command): string[] {
  if (command.name() === 'completion') return ['bash', 'fish', 'zsh']
  if (command.name() === 'help') return [...program.commands.map((one) => one.name()), ...Object.keys(topics)]
  return command.commands.filter((one) => one.name() !== 'help' || command === program).map((one) => one.name())
}

/** The environments of the project. A name that a shell would take apart is left out. */
function environments(): string[] {
  try {
    const names = ['local', ...Object.keys(locateProject(undefined).project.environments)]
    return names.filter((name) => /^[\w.-]+$/.test(name))
  } catch {
    return [] // outside a project there is nothing to complete, and an error would disturb the line that is typed
  }
}
