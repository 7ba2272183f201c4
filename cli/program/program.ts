// Turns command definitions into commander commands, and selects the ones that the typed words name.
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { Terminal } from '../terminal/terminal.ts'
import {
  type AnyCommandDefinition,
  type CommandExitCode,
  InvalidParamError,
  type Param,
  type Params,
} from './command.ts'
import { type CommandCatalogue, commandCatalogue, commandGroups } from './command-catalogue.ts'
import { reportFailure } from './report-failure.ts'

/** Runs the typed command; resolves to the exit code. Loads only the modules that its words need. */
export async function runProgram(typed: readonly string[], terminal: Terminal): Promise<CommandExitCode> {
  const argv = typed.length === 0 ? ['--help'] : (aliases[typed[0] ?? '']?.(typed.slice(1)) ?? typed)
  let exit: CommandExitCode = 0
  try {
    const program = await buildProgram(argv, terminal, (code) => {
      exit = code
    })
    await program.parseAsync([...argv], { from: 'user' })
    return exit
  } catch (error) {
    // Commander has already printed its message; a request for help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return reportFailure(terminal, error)
  }
}

/** Common alternative spellings. */
const aliases: Readonly<Record<string, (rest: readonly string[]) => string[]>> = {
  help: (rest) => [...rest, '--help'],
  '--version': () => ['version'],
  '-V': () => ['version'],
}

async function buildProgram(
  argv: readonly string[],
  terminal: Terminal,
  ended: (code: CommandExitCode) => void,
): Promise<Command> {
  const typed = argv.slice(
    0,
    findIndexOrEnd(argv, (word) => word.startsWith('-')),
  )
  const program = applyHelpStyle(new Command('platform'), terminal)
    .description('One executable for air-gapped sites')
    .usage('<command> [options]')
    .addHelpText('after', '\nExample:\n  $ platform init --site ./site --tenant acme --yes')
  for (const definition of await loadDefinitions(typed)) addCommand(program, definition, terminal, ended)
  return program
}

/** Loads the command that the words name; otherwise all candidates: those of the group, or of the top level. */
async function loadDefinitions(typed: readonly string[]): Promise<AnyCommandDefinition[]> {
  const exact = findLongestMatch(typed)
  const words = exact ? [exact] : listCandidates(typed)
  return await Promise.all(
    words.map(async (known) => (await commandCatalogue[known as keyof CommandCatalogue]()).definition),
  )
}

function findLongestMatch(typed: readonly string[]): string | undefined {
  for (let length = Math.min(typed.length, 3); length > 0; length--) {
    const words = typed.slice(0, length).join(' ')
    if (words in commandCatalogue) return words
  }
  return undefined
}

function listCandidates(typed: readonly string[]): string[] {
  const known = Object.keys(commandCatalogue)
  const [group] = typed
  const inGroup = known.filter((words) => group !== undefined && words.startsWith(`${group} `))
  if (inGroup.length > 0) return inGroup
  // A group shows itself at the top by one of its commands; its summary needs no module.
  return known.filter(
    (words, at) =>
      !words.includes(' ') || known.findIndex((other) => readFirstWord(other) === readFirstWord(words)) === at,
  )
}

const readFirstWord = (words: string) => words.split(' ')[0]

function addCommand(
  program: Command,
  definition: AnyCommandDefinition,
  terminal: Terminal,
  ended: (code: CommandExitCode) => void,
): void {
  const words = definition.words.split(' ')
  let parent = program
  for (const [at, word] of words.slice(0, -1).entries()) {
    const path = words.slice(0, at + 1).join(' ')
    const known = parent.commands.find((child) => child.name() === word)
    parent = known ?? addGroup(parent, path, word, terminal)
  }
  parent.addCommand(buildCommand(definition, terminal, ended))
}

function addGroup(parent: Command, path: string, word: string, terminal: Terminal): Command {
  const made = applyHelpStyle(new Command(word), terminal).description(commandGroups[path] ?? '')
  made.addHelpText('after', () => `\nExample:\n  $ platform ${path} ${made.commands[0]?.name() ?? ''} --help`)
  parent.addCommand(made)
  return made
}

function buildCommand(
  definition: AnyCommandDefinition,
  terminal: Terminal,
  ended: (code: CommandExitCode) => void,
): Command {
  const { words, summary, notes, example } = definition
  const takes: Params = definition.positionals ?? {}
  const options: Params = definition.options ?? {}
  const made = applyHelpStyle(new Command(words.split(' ').at(-1) ?? words), terminal)
    .summary(summary)
    .allowExcessArguments(false)
  // Help is wrapped by its own width: lines of the source would break it a second time.
  made.description(notes ? `${summary}\n\n${notes.replaceAll(/(?<!\n)\n(?!\n)/g, ' ')}` : summary)
  for (const [name, param] of Object.entries(takes)) made.addArgument(buildArgument(name, param))
  for (const [name, param] of Object.entries(options)) made.addOption(buildOption(name, param))
  made.addHelpText('after', `\nExample:\n  $ ${example.split('\n').join('\n  $ ')}`)
  made.action(async (...values: unknown[]) => {
    const byPlace = Object.keys(takes).map((name, at) => [name, values[at] ?? takes[name]?.defaultValue])
    const absent = Object.entries(options).map(([name, param]) => [name, param.defaultValue])
    const given = { ...Object.fromEntries([...byPlace, ...absent]), ...made.opts() }
    ended(await definition.run(given, terminal))
  })
  return made
}

function applyHelpStyle(made: Command, terminal: Terminal): Command {
  return made
    .configureOutput({
      writeOut: (given) => terminal.print(given.replace(/\n$/, '')),
      writeErr: (given) => terminal.note(given.replace(/\n$/, '')),
    })
    .exitOverride()
    .helpCommand(false)
    .helpOption('-h, --help', 'Show help for the command')
    .configureHelp({ showGlobalOptions: false, helpWidth: 100 })
    .showSuggestionAfterError(true)
    .showHelpAfterError('Add --help for usage')
}

function buildArgument(name: string, param: Param<unknown>): Argument {
  const shown = param.metavar ?? name
  const dots = param.isRest ? '...' : ''
  const made = new Argument(param.isRequired ? `<${shown}${dots}>` : `[${shown}${dots}]`, param.help)
  if (!param.isRest) made.argParser((given) => parseParam(param, given))
  return made
}

function buildOption(name: string, param: Param<unknown>): Option {
  const long = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const dots = param.isRest ? '...' : ''
  const made = new Option(param.metavar === undefined ? long : `${long} <${param.metavar}${dots}>`, param.help)
  if (param.isRequired) made.makeOptionMandatory()
  if (param.metavar !== undefined && !param.isRest) made.argParser((given) => parseParam(param, given))
  return made
}

function parseParam(param: Param<unknown>, given: string): unknown {
  try {
    return param.parse(given)
  } catch (error) {
    if (error instanceof InvalidParamError) throw new InvalidArgumentError(error.message)
    throw error
  }
}

function findIndexOrEnd<T>(list: readonly T[], holds: (item: T) => boolean): number {
  const at = list.findIndex(holds)
  return at < 0 ? list.length : at
}
