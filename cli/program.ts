/** The verbs as commander's tree of commands. Every wrong word of a command line is an error that names it, exit 2. */
import { Argument, Command, type CommanderError, type Option } from 'commander'
import { nearest } from '../src/wire/nearest.ts'
import { Failure } from './shared/failure.ts'
import { eatenFlags } from './shared/npm.ts'
import type { Verb } from './shared/verb.ts'
import { version } from './shared/version.ts'
import { topics } from './topics.ts'
import { groups, verbs } from './verbs.ts'

/** A word that looks like a verb or a flag, which is printed even where a person may have typed a secret's value. */
const plainWord = /^(?:--?)?[a-z][a-z-]{0,15}$/

export function createProgram(): Command {
  const program = new Command('stack')
  program.on('option:version', () => {
    const [, superfluous] = process.argv.slice(2)
    if (superfluous !== undefined) throw usageError(program, `too many arguments for '--version': ${superfluous}`)
  })
  program
    .description('Compile decorated classes into a backend at the edge, and run it with a real Postgres')
    .version(version, '-V, --version', 'print the version')
    .enablePositionalOptions() // otherwise `env` would take the flags of `env create`
    .configureOutput({ outputError() {} }) // a Failure carries the sentence, and main prints it
  for (const verb of verbs) addVerb(commandAt(program, verb.name), verb)
  for (const command of allCommands(program)) finish(program, command)
  const names = Object.keys(topics).map((topic) => `  $ stack help ${topic}`)
  return program.addHelpText('after', `\nMore help:\n${names.join('\n')}`)
}

/** The command of a verb. The words that lead to it become commands of their own, which only print help. */
function commandAt(program: Command, name: string): Command {
  const words = name.split(' ')
  return words.reduce((parent, word, index) => {
    const known = parent.commands.find((command) => command.name() === word)
    if (known) return known
    const command = parent.command(word)
    const path = words.slice(0, index + 1).join(' ')
    const summary = groups.map(({ summaries }) => summaries[path]).find((text) => text !== undefined)
    return summary === undefined ? command : command.summary(summary).description(sentence(summary))
  }, program)
}

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)]
}

function addVerb(command: Command, verb: Verb): void {
  const positionals = Object.entries(verb.positionals ?? {})
  command.summary(verb.summary).description(sentence(verb.summary))
  for (const option of verb.options) {
    command.addOption(option)
    if (option.required) checkValues(command, option)
  }
  for (const [syntax, description] of positionals) command.addArgument(new Argument(syntax, description))
  command.addHelpText('after', examplesText(verb.examples))
  command.allowExcessArguments() // commander's own error does not name the word
  // commander passes the positionals, then the flags, then the command itself
  command.action((...passed: unknown[]) => {
    const given = passed.slice(0, positionals.length) as (string | undefined)[]
    refuseSuperfluous(verb, command, positionals.length)
    const empty = given.findIndex((word) => word?.trim() === '')
    if (empty !== -1) throw usageError(command, `argument '${positionals[empty]![0]}' is empty`)
    return verb.run(passed[positionals.length] as object, ...given)
  })
}

/** Refuses a value that is empty, that is the next flag, or that would replace an earlier one. */
function checkValues(command: Command, option: Option): void {
  const name = `option '${option.flags}'`
  let isGiven = false
  command.on(`option:${option.name()}`, (value: string) => {
    if (isGiven) throw usageError(command, `${name} is given twice`)
    isGiven = true
    if (value.trim() === '') throw usageError(command, `${name} argument is empty`)
    const isFlag = command.options.some(({ long, short }) => value === long || value === short) || value === '--help'
    if (isFlag) throw usageError(command, `${name} argument missing before ${value}`)
    if (value.startsWith('--')) throw usageError(command, `${name} argument missing: the next word begins with --`)
  })
}

function refuseSuperfluous({ isSecret, options }: Verb, command: Command, count: number): void {
  const [word] = command.args.slice(count)
  if (word === undefined) return
  const shown = isSecret ? 'what follows the name is not shown, for it may be the value' : JSON.stringify(word)
  const expected = `Expected ${count} argument${count === 1 ? '' : 's'} but got ${command.args.length}`
  const text = `too many arguments for '${command.name()}'. ${expected}. Unexpected: ${shown}`
  throw usageError(command, text, isSecret ? undefined : meantInsteadOf(word, command, options))
}

/** Guesses the meaning of a superfluous word: a flag without its dashes, a payload, or another verb of the group. */
function meantInsteadOf(word: string, command: Command, options: readonly Option[]): string | undefined {
  const flags = options.map(({ long }) => long!.slice(2))
  const eaten = eatenFlags(flags.map((flag) => flag.replace(/^no-/, '')).filter((flag) => flag !== 'yes'))
  if (eaten) return eaten
  if (/^[{[@]/.test(word) && flags.includes('data')) return 'a payload is given by --data'
  const flag = nearest(word, flags)
  if (flag) return `Did you mean --${flag}?`
  const others = [...command.commands, ...command.parent!.commands.filter((one) => one !== command)]
  const near = nearest(
    word,
    others.map((one) => one.name()),
  )
  const other = others.find((one) => one.name() === near)
  return other && `Did you mean ${pathOf(other)}?`
}

/** Gives a command its help texts and its errors. */
function finish(program: Command, command: Command): void {
  const verb = verbs.find(({ name }) => `stack ${name}` === pathOf(command))
  command.helpOption('-h, --help', 'print this help').helpCommand(false)
  explainErrors(command, verb)
  if (verb) return
  const below = verbs.filter((one) => isBelow(one, command))
  const depth = pathOf(command).split(' ').length - 1
  const firsts = new Map<string, Verb>()
  for (const one of below) {
    const word = one.name.split(' ')[depth]!
    if (!firsts.has(word)) firsts.set(word, one)
  }
  command.usage(`<${[...firsts.keys(), ...(command === program ? ['help'] : [])].join('|')}>`)
  command.addHelpText('after', examplesText([...firsts.values()].map(({ examples }) => examples[0])))
  const help = command
    .command('help', { hidden: command !== program })
    .argument('[command...]', 'a command, or a topic')
    .usage('[command...]')
    .summary('print the help of a command or a topic')
    .description('Print the help of a command or a topic')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', examplesText(['stack help build', 'stack help exit-codes']))
    .action((words: string[]) => printHelp(command, words))
  explainErrors(help, undefined)
}

/** Lets commander's errors be thrown as this program's. A help that was printed ends the program by commander's own error. */
function explainErrors(command: Command, verb: Verb | undefined): void {
  command.exitOverride((error) => {
    const isPrinted = error.code.startsWith('commander.help') || error.code === 'commander.version'
    throw isPrinted ? error : failureOf(error, command, verb)
  })
}

/** Prints the help of the command that the words lead to, or a topic. */
function printHelp(from: Command, words: readonly string[]): void {
  const [topic, superfluous] = words
  if (topic !== undefined && Object.hasOwn(topics, topic)) {
    if (superfluous !== undefined) throw usageError(from, `too many arguments for 'help ${topic}': ${superfluous}`)
    process.stdout.write(topics[topic]!)
    return
  }
  let command = from
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word)
    if (!next) {
      const names = [...command.commands.map((one) => one.name()), ...Object.keys(topics)]
      const near = nearest(word, names)
      throw usageError(command, `there is no help for '${word}'`, near && `Did you mean ${near}?`)
    }
    command = next
  }
  command.outputHelp()
}

/** An error of commander's in this program's words. A word that may be a secret's value is shown only if it is plain. */
function failureOf({ code, message }: CommanderError, command: Command, verb: Verb | undefined): Failure {
  const [text = '', hint] = message.replace(/^error: /, '').split('\n')
  const meant = hint && /^\((.*)\)$/.exec(hint)?.[1]
  const [, what, word = ''] = /^error: (unknown (?:option|command)) '([\s\S]*?)'(?:\n\(Did|$)/.exec(message) ?? []
  const mayHoldSecret = verb
    ? verb.isSecret
    : command.parent && verbs.some((one) => one.isSecret && isBelow(one, command))
  if (what !== undefined && mayHoldSecret) {
    return plainWord.test(word) ? usageError(command, `${what} ${word}`, meant) : usageError(command, what)
  }
  if (meant) return new Failure('usage', `${text}\n${hint}\nUsage: ${usageOf(command)}`)
  if (code !== 'commander.unknownCommand')
    return usageError(command, text.replace(/\.$/, '').replace('is invalid. a ', 'is invalid: a '))
  const lastWord = ({ name }: Verb) => name.split(' ').at(-1)!
  const near = nearest(word, verbs.map(lastWord))
  const elsewhere = verbs.find((one) => lastWord(one) === near)
  return usageError(command, text, elsewhere && `Did you mean stack ${elsewhere.name}?`)
}

function isBelow({ name }: Verb, command: Command): boolean {
  return `stack ${name}`.startsWith(`${pathOf(command)} `)
}

/** @param meant a sentence about what the person most likely meant. */
function usageError(command: Command, text: string, meant?: string): Failure {
  return new Failure('usage', `${text}. Usage: ${usageOf(command)}${meant ? `\n(${meant})` : ''}`)
}

function usageOf(command: Command): string {
  return `${pathOf(command)} ${command.usage()}`
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

function examplesText(examples: readonly string[]): string {
  return `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`
}

/** A summary as the first line of a help text. */
function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}`
}
